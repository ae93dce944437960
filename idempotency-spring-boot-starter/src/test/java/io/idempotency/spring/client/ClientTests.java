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
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;

/** A server that says what it is told to, and notes what it was sent. */
abstract class ClientTests {

    private static final IdempotentOperation<String> ORDER = IdempotentOperation.named("order", String.class)
            .guarantee(Guarantee.AT_LEAST_ONCE)
            .build();

    final List<@Nullable String> keys = new CopyOnWriteArrayList<>();
    final List<@Nullable String> requestIds = new CopyOnWriteArrayList<>();
    final List<String> bodies = new CopyOnWriteArrayList<>();
    final Watch watch = new Watch();

    private final Queue<Answer> script = new ConcurrentLinkedQueue<>();
    HttpServer server;
    URI uri;

    /** What the server says; a status of 0 cuts the connection. */
    record Answer(int status, String... headers) {}

    static final class Watch implements Pauses, IdempotencyWebClientCustomizer.Delays {

        final List<Duration> pauses = new CopyOnWriteArrayList<>();
        volatile long now;

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public void pause(Duration pause) {
            pauses.add(pause);
            now += pause.toNanos();
        }

        @Override
        public Executor after(Duration pause) {
            pause(pause);
            return Runnable::run;
        }

        @Override
        public Mono<Long> delay(Duration delay) {
            pause(delay);
            return Mono.just(0L);
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

    final void script(Answer... answers) {
        script.addAll(Arrays.asList(answers));
    }

    /** An attempt that makes two calls and fails, another attempt that makes them again, and a call outside of an action. */
    final void anotherAttemptSendsTheSameKeys(Runnable call) {
        withTemplate(template -> {
            assertThatThrownBy(() -> template.execute(ORDER, "k", () -> {
                        call.run();
                        call.run();
                        throw new IllegalArgumentException("after the calls");
                    }))
                    .isInstanceOf(IllegalArgumentException.class);
            template.execute(ORDER, "k", () -> {
                call.run();
                call.run();
                return "done";
            });
            call.run();
        });

        assertThat(keys).hasSize(5);
        assertThat(keys.subList(2, 4)).isEqualTo(keys.subList(0, 2));
        assertThat(keys.stream().distinct()).hasSize(3);
    }

    /** An attempt of the same action each time, which makes one call and fails. */
    final void inTwoAttempts(Runnable call) {
        withTemplate(template -> {
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> template.execute(ORDER, "k", () -> {
                            call.run();
                            throw new IllegalArgumentException("after the call");
                        }))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        });
    }

    private static void withTemplate(Consumer<IdempotencyTemplate> test) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        IdempotencyAutoConfiguration.class, IdempotencyInMemoryAutoConfiguration.class))
                .withPropertyValues("idempotency.store=in-memory")
                .run(context -> test.accept(context.getBean(IdempotencyTemplate.class)));
    }
}
