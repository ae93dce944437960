package io.idempotency.spring.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.reactive.JdkClientHttpConnector;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientRequestException;
import org.springframework.web.reactive.function.client.WebClientResponseException;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

class IdempotencyWebClientCustomizerTests extends ClientTests {

    private IdempotencyWebClientCustomizer.Builder customizer() {
        return IdempotencyWebClientCustomizer.builder().delays(watch);
    }

    private static WebClient client(IdempotencyWebClientCustomizer.Builder customizer) {
        return WebClient.builder()
                .clientConnector(new JdkClientHttpConnector())
                .apply(customizer.build())
                .build();
    }

    private Mono<ResponseEntity<Void>> post(WebClient client) {
        return client.post().uri(uri).bodyValue("pay").retrieve().toBodilessEntity();
    }

    @Test
    void aCallHasOneKeyOverAllItsAttempts() {
        script(
                new Answer(409, "Retry-After", "2"),
                new Answer(503, "Retry-After", "1"),
                new Answer(503),
                new Answer(201));

        assertThat(post(client(customizer())).block().getStatusCode().value()).isEqualTo(201);

        assertThat(keys).hasSize(4);
        assertThat(keys.stream().distinct()).hasSize(1);
        assertThat(UUID.fromString(keys.get(0)).version()).isEqualTo(7);
        assertThat(bodies).containsOnly("pay");
        assertThat(watch.pauses)
                .startsWith(Duration.ofSeconds(2), Duration.ofSeconds(1))
                .hasSize(3);
    }

    @Test
    void aConnectionThatFailsIsTriedAgainUnderTheSameKey() {
        script(new Answer(0), new Answer(0), new Answer(200));

        post(client(customizer())).block();

        assertThat(keys.stream().distinct()).hasSize(1);
        assertThat(watch.pauses).isNotEmpty();
    }

    @Test
    void whatIsSubscribedToAgainIsTheSameCall() {
        script(new Answer(500), new Answer(502), new Answer(201), new Answer(200));
        Mono<ResponseEntity<Void>> call = post(client(customizer()));

        call.retry(2).block();
        call.subscribeOn(Schedulers.parallel()).block();
        post(client(customizer())).block();

        assertThat(keys).hasSize(5);
        assertThat(keys.subList(0, 4).stream().distinct()).hasSize(1);
        assertThat(keys.get(4)).isNotEqualTo(keys.get(0));
    }

    @Test
    void aRefusalThatTimeDoesNotHealIsTheAnswer() {
        script(new Answer(409), new Answer(422), new Answer(500));
        WebClient client = client(customizer());

        assertThatThrownBy(() -> post(client).block()).isInstanceOf(WebClientResponseException.Conflict.class);
        assertThatThrownBy(() -> post(client).block())
                .isInstanceOf(WebClientResponseException.UnprocessableEntity.class);
        assertThatThrownBy(() -> post(client).block())
                .isInstanceOf(WebClientResponseException.InternalServerError.class);

        assertThat(keys).hasSize(3).doesNotHaveDuplicates();
        assertThat(watch.pauses).isEmpty();
    }

    @Test
    void theDeadlineEndsACallWithItsLastAnswer() {
        for (int i = 0; i < 20; i++) {
            script(new Answer(409, "Retry-After", "2"));
        }

        assertThatThrownBy(() -> post(client(customizer().deadline(Duration.ofSeconds(5))))
                        .block())
                .isInstanceOf(WebClientResponseException.Conflict.class);

        assertThat(keys).hasSize(3);
        assertThat(watch.now).isEqualTo(Duration.ofSeconds(4).toNanos());
    }

    @Test
    void theDeadlineEndsACallWithItsLastFailure() {
        server.stop(0);

        assertThatThrownBy(() -> post(client(customizer().deadline(Duration.ofSeconds(3))))
                        .block())
                .isInstanceOf(WebClientRequestException.class);

        assertThat(watch.pauses).hasSizeGreaterThan(2);
        assertThat(watch.now).isLessThan(Duration.ofSeconds(3).toNanos());
    }

    // So many that attempts within attempts would overflow the stack.
    @Test
    void aServerThatIsAskedAgainAtOnceIsAskedUntilItAnswers() {
        AtomicInteger asked = new AtomicInteger();
        WebClient client = WebClient.builder()
                .exchangeFunction(request -> Mono.just(ClientResponse.create(
                                asked.incrementAndGet() < 20_000 ? HttpStatus.SERVICE_UNAVAILABLE : HttpStatus.OK)
                        .header("Retry-After", "0")
                        .build()))
                .apply(customizer().build())
                .build();

        assertThat(post(client).block().getStatusCode()).isEqualTo(HttpStatus.OK);
        assertThat(asked).hasValue(20_000);
    }

    @Test
    void noThreadWaitsBetweenTwoAttempts() throws Exception {
        script(new Answer(409, "Retry-After", "2"));
        Later later = new Later();

        CompletableFuture<ResponseEntity<Void>> answer =
                post(client(customizer().delays(later))).toFuture();
        Sinks.One<Long> pause = later.take();
        assertThat(answer).isNotDone();
        assertThat(keys).hasSize(1);
        pause.tryEmitValue(0L).orThrow();

        assertThat(answer.get(30, TimeUnit.SECONDS).getStatusCode().value()).isEqualTo(200);
        assertThat(keys).hasSize(2);
    }

    @Test
    void aCallThatIsCancelledIsNotSentAgain() throws Exception {
        script(new Answer(409, "Retry-After", "2"));
        Later later = new Later();

        Disposable call = post(client(customizer().delays(later))).subscribe();
        Sinks.One<Long> pause = later.take();
        call.dispose();
        pause.tryEmitValue(0L);
        post(client(customizer())).block();

        assertThat(keys).hasSize(2).doesNotHaveDuplicates();
    }

    @Test
    void aBodyThatCanBeReadOnlyOnceIsNotSentTwice() {
        script(new Answer(0), new Answer(0));
        AtomicBoolean read = new AtomicBoolean();
        Flux<String> body = Flux.defer(
                () -> read.getAndSet(true) ? Flux.error(new IllegalStateException("read already")) : Flux.just("pay"));

        assertThatThrownBy(() -> client(customizer())
                        .post()
                        .uri(uri)
                        .body(BodyInserters.fromPublisher(body, String.class))
                        .retrieve()
                        .toBodilessEntity()
                        .block())
                .hasRootCauseMessage("read already");
        assertThat(watch.pauses).hasSize(1);
    }

    @Test
    void aKeyOfTheCallersOwnIsKept() {
        script(new Answer(503), new Answer(200));

        client(customizer())
                .put()
                .uri(uri)
                .header("Idempotency-Key", "order-7")
                .retrieve()
                .toBodilessEntity()
                .block();

        assertThat(keys).containsExactly("order-7", "order-7");
    }

    @Test
    void methodsThatAreIdempotentByThemselvesPass() {
        script(new Answer(503));

        assertThatThrownBy(() -> client(customizer())
                        .get()
                        .uri(uri)
                        .retrieve()
                        .toBodilessEntity()
                        .block())
                .isInstanceOf(WebClientResponseException.ServiceUnavailable.class);
        assertThat(keys).containsExactly((String) null);
    }

    @Test
    void saysWhetherTheAnswerIsAReplay() {
        script(new Answer(200), new Answer(200, "Idempotent-Replayed", "true"));
        WebClient client = client(customizer());

        assertThat(post(client)
                        .map(each -> IdempotencyWebClientCustomizer.isReplayed(each.getHeaders()))
                        .block())
                .isFalse();
        assertThat(post(client)
                        .map(each -> IdempotencyWebClientCustomizer.isReplayed(each.getHeaders()))
                        .block())
                .isTrue();
    }

    // On another thread than the action's.
    @Test
    void anotherAttemptOfTheActionSendsTheSameKeys() {
        WebClient client = client(customizer().childKeys());

        anotherAttemptSendsTheSameKeys(
                () -> post(client).subscribeOn(Schedulers.parallel()).block());
    }

    @Test
    void whoHasNotOptedInSendsNoChildKeys() {
        WebClient client = client(customizer());

        inTwoAttempts(() -> post(client).block());

        assertThat(keys).hasSize(2).doesNotHaveDuplicates();
    }

    @Test
    void theRequestIdOfTheLoggingContextTravelsWithTheCall() {
        WebClient client = client(customizer().requestId("requestId", "X-Request-Id"));
        post(client).block();
        MDC.put("requestId", "r-1");
        try {
            post(client).subscribeOn(Schedulers.parallel()).block();
            client.get()
                    .uri(uri)
                    .header("X-Request-Id", "of its own")
                    .retrieve()
                    .toBodilessEntity()
                    .block();
        } finally {
            MDC.remove("requestId");
        }

        assertThat(requestIds).containsExactly(null, "r-1", "of its own");
    }

    /** Pauses that last until the test ends them. */
    private static final class Later implements IdempotencyWebClientCustomizer.Delays {

        private final CompletableFuture<Sinks.One<Long>> first = new CompletableFuture<>();

        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public Mono<Long> delay(Duration delay) {
            Sinks.One<Long> pause = Sinks.one();
            first.complete(pause);
            return pause.asMono();
        }

        private Sinks.One<Long> take() throws Exception {
            return first.get(30, TimeUnit.SECONDS);
        }
    }
}
