package io.idempotency.spring.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.http.ResponseEntity;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;

class IdempotencyClientInterceptorTests extends ClientTests {

    private IdempotencyClientInterceptor.Builder interceptor() {
        return IdempotencyClientInterceptor.builder().pauses(watch);
    }

    private RestClient client(IdempotencyClientInterceptor.Builder interceptor) {
        return RestClient.builder().requestInterceptor(interceptor.build()).build();
    }

    private ResponseEntity<Void> post(RestClient client) {
        return client.post().uri(uri).body("pay").retrieve().toBodilessEntity();
    }

    @Test
    void aCallHasOneKeyOverAllItsAttempts() {
        script(
                new Answer(409, "Retry-After", "2"),
                new Answer(503, "Retry-After", "1"),
                new Answer(503),
                new Answer(201));

        assertThat(post(client(interceptor())).getStatusCode().value()).isEqualTo(201);

        assertThat(keys).hasSize(4);
        assertThat(keys.stream().distinct()).hasSize(1);
        assertThat(UUID.fromString(keys.get(0)).version()).isEqualTo(7);
        assertThat(bodies).containsOnly("pay");
        assertThat(watch.pauses)
                .startsWith(Duration.ofSeconds(2), Duration.ofSeconds(1))
                .hasSize(3);
    }

    @Test
    void everyCallHasAKeyOfItsOwnInOrder() {
        RestClient client = client(interceptor());

        for (int i = 0; i < 20; i++) {
            post(client);
        }

        assertThat(keys).doesNotHaveDuplicates().isSorted();
    }

    @Test
    void aConnectionThatFailsIsTriedAgainUnderTheSameKey() {
        script(new Answer(0), new Answer(0), new Answer(200));

        post(client(interceptor()));

        assertThat(keys.stream().distinct()).hasSize(1);
        assertThat(watch.pauses).hasSizeGreaterThanOrEqualTo(1);
    }

    @Test
    void aRefusalThatTimeDoesNotHealIsTheAnswer() {
        script(new Answer(409));
        assertThatThrownBy(() -> post(client(interceptor()))).isInstanceOf(HttpClientErrorException.Conflict.class);

        script(new Answer(422), new Answer(500));
        assertThatThrownBy(() -> post(client(interceptor()))).isInstanceOf(HttpClientErrorException.class);
        assertThatThrownBy(() -> post(client(interceptor()))).isInstanceOf(HttpServerErrorException.class);

        assertThat(keys).hasSize(3).doesNotHaveDuplicates();
        assertThat(watch.pauses).isEmpty();
    }

    @Test
    void theDeadlineEndsACallWithItsLastAnswer() {
        for (int i = 0; i < 20; i++) {
            script(new Answer(409, "Retry-After", "2"));
        }

        assertThatThrownBy(() -> post(client(interceptor().deadline(Duration.ofSeconds(5)))))
                .isInstanceOf(HttpClientErrorException.Conflict.class);

        assertThat(keys).hasSize(3);
        assertThat(watch.now).isEqualTo(Duration.ofSeconds(4).toNanos());
    }

    @Test
    void theDeadlineEndsACallWithItsLastFailure() {
        server.stop(0);

        assertThatThrownBy(() -> post(client(interceptor().deadline(Duration.ofSeconds(3)))))
                .isInstanceOf(ResourceAccessException.class);

        assertThat(watch.pauses).hasSizeGreaterThan(2);
        assertThat(watch.now).isLessThan(Duration.ofSeconds(3).toNanos());
    }

    @Test
    void withoutADeadlineNothingIsSentAgain() {
        script(new Answer(503, "Retry-After", "0"));

        assertThatThrownBy(() -> post(client(interceptor().deadline(Duration.ZERO))))
                .isInstanceOf(HttpServerErrorException.ServiceUnavailable.class);
        assertThat(keys).hasSize(1);
    }

    @Test
    void aKeyOfTheCallersOwnIsKept() {
        script(new Answer(503), new Answer(200));

        client(interceptor())
                .put()
                .uri(uri)
                .header("Idempotency-Key", "order-7")
                .retrieve()
                .toBodilessEntity();

        assertThat(keys).containsExactly("order-7", "order-7");
    }

    @Test
    void methodsThatAreIdempotentByThemselvesPass() {
        script(new Answer(503));

        assertThatThrownBy(() -> client(interceptor()).get().uri(uri).retrieve().toBodilessEntity())
                .isInstanceOf(HttpServerErrorException.class);
        assertThat(keys).containsExactly((String) null);
    }

    @Test
    void saysWhetherTheAnswerIsAReplay() {
        script(new Answer(200), new Answer(200, "Idempotent-Replayed", "true"));
        RestTemplate template = new RestTemplate();
        template.getInterceptors().add(interceptor().build());

        assertThat(IdempotencyClientInterceptor.isReplayed(
                        template.postForEntity(uri, "pay", Void.class).getHeaders()))
                .isFalse();
        assertThat(IdempotencyClientInterceptor.isReplayed(
                        template.postForEntity(uri, "pay", Void.class).getHeaders()))
                .isTrue();
    }

    @Test
    void anotherAttemptOfTheActionSendsTheSameKeys() {
        RestClient client = client(interceptor().childKeys());

        anotherAttemptSendsTheSameKeys(() -> post(client));
    }

    @Test
    void theRequestIdOfTheLoggingContextTravelsWithTheCall() {
        RestClient client = client(interceptor().requestId("requestId", "X-Request-Id"));
        post(client);
        MDC.put("requestId", "r-1");
        try {
            post(client);
        } finally {
            MDC.remove("requestId");
        }

        assertThat(requestIds).containsExactly(null, "r-1");
    }
}
