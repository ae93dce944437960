package io.idempotency.spring.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.idempotency.Guarantee;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotentOperation;
import io.idempotency.boot.IdempotencyAutoConfiguration;
import io.idempotency.boot.IdempotencyInMemoryAutoConfiguration;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.http.ResponseEntity;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;

class IdempotencyClientInterceptorTests {

    private final Deque<Answer> script = new ArrayDeque<>();
    private final List<String> keys = new ArrayList<>();
    private final List<String> bodies = new ArrayList<>();
    private final List<String> requestIds = new ArrayList<>();
    private final Watch watch = new Watch();
    private HttpServer server;
    private URI uri;

    /** What the server says; a status of 0 cuts the connection. */
    private record Answer(int status, String... headers) {}

    private static final class Watch implements IdempotencyClientInterceptor.Pauses {

        private final List<Duration> pauses = new ArrayList<>();
        private long now;

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public void pause(Duration pause) {
            pauses.add(pause);
            now += pause.toNanos();
        }
    }

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        uri = URI.create("http://localhost:" + server.getAddress().getPort() + "/payments");
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            keys.add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            requestIds.add(exchange.getRequestHeaders().getFirst("X-Request-Id"));
            bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            Answer answer = script.isEmpty() ? new Answer(200) : script.remove();
            if (answer.status() == 0) {
                return;
            }
            for (int i = 0; i < answer.headers().length; i += 2) {
                exchange.getResponseHeaders().set(answer.headers()[i], answer.headers()[i + 1]);
            }
            exchange.sendResponseHeaders(answer.status(), -1);
        }
    }

    private void script(Answer... answers) {
        script.addAll(Arrays.asList(answers));
    }

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
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        IdempotencyAutoConfiguration.class, IdempotencyInMemoryAutoConfiguration.class))
                .withPropertyValues("idempotency.store=in-memory")
                .run(context -> {
                    IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
                    IdempotentOperation<String> operation = IdempotentOperation.named("order", String.class)
                            .guarantee(Guarantee.AT_LEAST_ONCE)
                            .build();
                    assertThatThrownBy(() -> template.execute(operation, "k", () -> {
                                post(client);
                                post(client);
                                throw new IllegalArgumentException("after the calls");
                            }))
                            .isInstanceOf(IllegalArgumentException.class);
                    template.execute(operation, "k", () -> {
                        post(client);
                        post(client);
                        return "done";
                    });
                    post(client);
                });

        assertThat(keys).hasSize(5);
        assertThat(keys.subList(2, 4)).isEqualTo(keys.subList(0, 2));
        assertThat(keys.stream().distinct()).hasSize(3);
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

    @Test
    void keysOfVersion4AreRandom() {
        String key = IdempotencyKeyGenerator.uuidV4().nextKey();

        assertThat(UUID.fromString(key).version()).isEqualTo(4);
        assertThat(IdempotencyKeyGenerator.uuidV4().nextKey()).isNotEqualTo(key);
    }
}
