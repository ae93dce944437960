package io.idempotency.spring.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import feign.Feign;
import feign.FeignException;
import feign.Headers;
import feign.Param;
import feign.RequestLine;
import feign.Response;
import feign.RetryableException;
import feign.Retryer;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

class IdempotencyFeignCapabilityTests extends ClientTests {

    interface Payments {

        @RequestLine("POST /payments")
        Response pay(String payment);

        @RequestLine("POST /payments")
        void payOrFail(String payment);

        @RequestLine("PUT /payments")
        @Headers("Idempotency-Key: {key}")
        void payAs(@Param("key") String key);

        @RequestLine("GET /payments")
        void read();
    }

    private IdempotencyFeignCapability.Builder capability() {
        return IdempotencyFeignCapability.builder().pauses(watch);
    }

    private Payments client(IdempotencyFeignCapability.Builder capability) {
        return Feign.builder()
                .retryer(Retryer.NEVER_RETRY)
                .addCapability(capability.build())
                .target(Payments.class, uri.resolve("/").toString());
    }

    private static void post(Payments client) {
        client.payOrFail("pay");
    }

    @Test
    void aCallHasOneKeyOverAllItsAttempts() {
        script(
                new Answer(409, "Retry-After", "2"),
                new Answer(503, "Retry-After", "1"),
                new Answer(503),
                new Answer(201));

        assertThat(client(capability()).pay("pay").status()).isEqualTo(201);

        assertThat(keys).hasSize(4);
        assertThat(keys.stream().distinct()).hasSize(1);
        assertThat(UUID.fromString(keys.get(0)).version()).isEqualTo(7);
        assertThat(bodies).containsOnly("pay");
        assertThat(watch.pauses)
                .startsWith(Duration.ofSeconds(2), Duration.ofSeconds(1))
                .hasSize(3);
    }

    @Test
    void everyCallHasAKeyOfItsOwn() {
        Payments client = client(capability());

        post(client);
        post(client);

        assertThat(keys).hasSize(2).doesNotHaveDuplicates();
    }

    @Test
    void aConnectionThatFailsIsTriedAgainUnderTheSameKey() {
        script(new Answer(0), new Answer(0), new Answer(0), new Answer(200));

        post(client(capability()));

        assertThat(keys.stream().distinct()).hasSize(1);
        assertThat(watch.pauses).isNotEmpty();
    }

    @Test
    void theRetriesOfFeignAreTheSameCall() {
        script(new Answer(500), new Answer(502), new Answer(201));
        Payments client = Feign.builder()
                .retryer(new Retryer.Default(1, 1, 5))
                .errorDecoder((method, answer) -> new RetryableException(
                        answer.status(), "again", answer.request().httpMethod(), (Long) null, answer.request()))
                .addCapability(capability().build())
                .target(Payments.class, uri.resolve("/").toString());

        post(client);
        post(client);

        assertThat(keys).hasSize(4);
        assertThat(keys.subList(0, 3).stream().distinct()).hasSize(1);
        assertThat(keys.get(3)).isNotEqualTo(keys.get(0));
    }

    @Test
    void aRefusalThatTimeDoesNotHealIsTheAnswer() {
        script(new Answer(409), new Answer(422), new Answer(500));
        Payments client = client(capability());

        assertThatThrownBy(() -> post(client)).isInstanceOf(FeignException.Conflict.class);
        assertThatThrownBy(() -> post(client)).isInstanceOf(FeignException.UnprocessableEntity.class);
        assertThatThrownBy(() -> post(client)).isInstanceOf(FeignException.InternalServerError.class);

        assertThat(keys).hasSize(3).doesNotHaveDuplicates();
        assertThat(watch.pauses).isEmpty();
    }

    @Test
    void theDeadlineEndsACallWithItsLastAnswer() {
        for (int i = 0; i < 20; i++) {
            script(new Answer(409, "Retry-After", "2"));
        }

        assertThatThrownBy(() -> post(client(capability().deadline(Duration.ofSeconds(5)))))
                .hasCauseInstanceOf(FeignException.Conflict.class);

        assertThat(keys).hasSize(3);
        assertThat(watch.now).isEqualTo(Duration.ofSeconds(4).toNanos());
    }

    @Test
    void theDeadlineEndsACallWithItsLastFailure() {
        server.stop(0);

        assertThatThrownBy(() -> post(client(capability().deadline(Duration.ofSeconds(3)))))
                .isInstanceOf(RetryableException.class);

        assertThat(watch.pauses).hasSizeGreaterThan(2);
        assertThat(watch.now).isLessThan(Duration.ofSeconds(3).toNanos());
    }

    @Test
    void aKeyOfTheCallersOwnIsKept() {
        script(new Answer(503), new Answer(200));

        client(capability()).payAs("order-7");

        assertThat(keys).containsExactly("order-7", "order-7");
    }

    @Test
    void methodsThatAreIdempotentByThemselvesPass() {
        script(new Answer(503));

        assertThatThrownBy(() -> client(capability()).read()).isInstanceOf(FeignException.ServiceUnavailable.class);
        assertThat(keys).containsExactly((String) null);
    }

    @Test
    void saysWhetherTheAnswerIsAReplay() {
        script(new Answer(200), new Answer(200, "idempotent-replayed", "true"));
        Payments client = client(capability());

        assertThat(IdempotencyFeignCapability.isReplayed(client.pay("pay"))).isFalse();
        assertThat(IdempotencyFeignCapability.isReplayed(client.pay("pay"))).isTrue();
    }

    @Test
    void anotherAttemptOfTheActionSendsTheSameKeys() {
        Payments client = client(capability().childKeys());

        anotherAttemptSendsTheSameKeys(() -> post(client));
    }

    @Test
    void whoHasNotOptedInSendsNoChildKeys() {
        Payments client = client(capability());

        inTwoAttempts(() -> post(client));

        assertThat(keys).hasSize(2).doesNotHaveDuplicates();
    }

    @Test
    void theRequestIdOfTheLoggingContextTravelsWithTheCall() {
        Payments client = client(capability().requestId("requestId", "X-Request-Id"));
        post(client);
        MDC.put("requestId", "r-1");
        try {
            post(client);
            client.read();
        } finally {
            MDC.remove("requestId");
        }

        assertThat(requestIds).containsExactly(null, "r-1", "r-1");
    }
}
