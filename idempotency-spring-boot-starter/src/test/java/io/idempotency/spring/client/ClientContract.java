package io.idempotency.spring.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.IdempotencyContext;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

/** What the clients of all libraries have in common. */
abstract class ClientContract<B extends ClientBuilder<B>> extends ClientTests {

    /** Makes calls as a service would; that the server refuses is an answer as well. */
    interface Client {

        /** Sends "pay". */
        Received post();

        Received put(String header, String value);

        Received get();
    }

    record Received(int status, boolean replayed) {}

    /** Of a client whose pauses are those of the watch. */
    abstract B builder();

    abstract B withKeysForPut(B builder);

    abstract Client client(B builder);

    /** What a caller sees of a connection that fails. */
    abstract Class<? extends Exception> failure();

    @Test
    final void aCallHasOneKeyOverAllItsAttempts() {
        script(
                new Answer(409, "Retry-After", "2"),
                new Answer(503, "Retry-After", "1"),
                new Answer(503),
                new Answer(201));

        assertThat(client(builder()).post().status()).isEqualTo(201);

        assertThat(keys).hasSize(4);
        assertThat(keys.stream().distinct()).hasSize(1);
        assertThat(UUID.fromString(keys.get(0)).version()).isEqualTo(7);
        assertThat(bodies).containsOnly("pay");
        assertThat(watch.pauses)
                .startsWith(Duration.ofSeconds(2), Duration.ofSeconds(1))
                .hasSize(3);
    }

    @Test
    final void everyCallHasAKeyOfItsOwnInOrder() {
        Client client = client(builder());

        for (int i = 0; i < 20; i++) {
            client.post();
        }

        assertThat(keys).hasSize(20).doesNotHaveDuplicates().isSorted();
    }

    // So many times that a library which tries a second time by itself does not hide it.
    @Test
    final void aConnectionThatFailsIsTriedAgainUnderTheSameKey() {
        script(new Answer(0), new Answer(0), new Answer(0), new Answer(200));

        assertThat(client(builder()).post().status()).isEqualTo(200);

        assertThat(keys.stream().distinct()).hasSize(1);
        assertThat(watch.pauses).isNotEmpty();
    }

    @Test
    final void aRefusalThatTimeDoesNotHealIsTheAnswer() {
        script(new Answer(409), new Answer(422), new Answer(500));
        Client client = client(builder());

        assertThat(client.post().status()).isEqualTo(409);
        assertThat(client.post().status()).isEqualTo(422);
        assertThat(client.post().status()).isEqualTo(500);

        assertThat(keys).hasSize(3).doesNotHaveDuplicates();
        assertThat(watch.pauses).isEmpty();
    }

    @Test
    final void theDeadlineEndsACallWithItsLastAnswer() {
        for (int i = 0; i < 20; i++) {
            script(new Answer(409, "Retry-After", "2"));
        }

        assertThat(client(builder().deadline(Duration.ofSeconds(5))).post().status())
                .isEqualTo(409);

        assertThat(keys).hasSize(3);
        assertThat(watch.now).isEqualTo(Duration.ofSeconds(4).toNanos());
    }

    @Test
    final void theDeadlineEndsACallWithItsLastFailure() {
        server.stop(0);

        assertThatThrownBy(client(builder().deadline(Duration.ofSeconds(3)))::post)
                .isInstanceOf(failure());

        assertThat(watch.pauses).hasSizeGreaterThan(2);
        assertThat(watch.now).isLessThan(Duration.ofSeconds(3).toNanos());
    }

    @Test
    final void withoutADeadlineNothingIsSentAgain() {
        script(new Answer(503, "Retry-After", "0"));

        assertThat(client(builder().deadline(Duration.ZERO)).post().status()).isEqualTo(503);

        assertThat(keys).hasSize(1);
    }

    @Test
    final void aKeyOfTheCallersOwnIsKept() {
        script(new Answer(503), new Answer(200));

        client(builder()).put("Idempotency-Key", "order-7");

        assertThat(keys).containsExactly("order-7", "order-7");
    }

    @Test
    final void methodsThatAreIdempotentByThemselvesPass() {
        script(new Answer(503));

        assertThat(client(builder()).get().status()).isEqualTo(503);

        assertThat(keys).containsExactly((String) null);
    }

    @Test
    final void theMethodsThatGetAKeyCanBeChosen() {
        Client client = client(withKeysForPut(builder()));

        client.put("Accept", "*/*");
        client.post();

        assertThat(keys).hasSize(2);
        assertThat(keys.get(0)).isNotNull();
        assertThat(keys.get(1)).isNull();
    }

    @Test
    final void saysWhetherTheAnswerIsAReplay() {
        script(new Answer(200), new Answer(200, "Idempotent-Replayed", "true"));
        Client client = client(builder());

        assertThat(client.post().replayed()).isFalse();
        assertThat(client.post().replayed()).isTrue();
    }

    @Test
    final void anotherAttemptOfTheActionSendsTheSameKeys() {
        anotherAttemptSendsTheSameKeys(client(builder().childKeys())::post);
    }

    @Test
    final void alikeCallsOfTwoClientsHaveKeysOfTheirOwn() {
        Client one = client(builder().childKeys());
        Client other = client(builder().childKeys());

        inTwoAttempts(() -> {
            one.post();
            other.post();
        });

        assertThat(keys.subList(0, 2)).doesNotHaveDuplicates().isEqualTo(keys.subList(2, 4));
    }

    @Test
    final void aCallOnAnotherThreadIsTheActionsWhereItsContextIsBound() {
        Client client = client(builder().childKeys());

        inTwoAttempts(() -> {
            IdempotencyContext context = IdempotencyContext.current().orElseThrow();
            CompletableFuture.runAsync(() -> {
                        try (IdempotencyContext.Scope ignored = IdempotencyContext.bind(context)) {
                            client.post();
                        }
                    })
                    .join();
            CompletableFuture.runAsync(client::post).join();
        });

        assertThat(keys).hasSize(4);
        assertThat(keys.get(2)).as("bound").isEqualTo(keys.get(0));
        assertThat(keys.get(3)).as("not bound").isNotEqualTo(keys.get(1));
    }

    @Test
    final void whoHasNotOptedInSendsNoChildKeys() {
        inTwoAttempts(client(builder())::post);

        assertThat(keys).hasSize(2).doesNotHaveDuplicates();
    }

    @Test
    final void theRequestIdOfTheLoggingContextTravelsWithTheCall() {
        Client client = client(builder().requestId("requestId", "X-Request-Id"));

        client.post();
        try (MDC.MDCCloseable ignored = MDC.putCloseable("requestId", "r-1")) {
            client.post();
            client.get();
            client.put("X-Request-Id", "of its own");
        }

        assertThat(requestIds).containsExactly(null, "r-1", "r-1", "of its own");
    }

    @Test
    final void aRequestIdThatIsNoneNeitherTravelsNorFailsTheCall() {
        Client client = client(builder().requestId("requestId", "X-Request-Id"));

        try (MDC.MDCCloseable ignored = MDC.putCloseable("requestId", "r-1\r\nX-Admin: true")) {
            assertThat(client.post().status()).isEqualTo(200);
        }

        assertThat(requestIds).containsExactly((String) null);
    }
}
