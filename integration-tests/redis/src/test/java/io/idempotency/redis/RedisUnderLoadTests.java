package io.idempotency.redis;

import static io.idempotency.redis.Claims.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyException;
import io.idempotency.engine.Call;
import io.idempotency.engine.Completion;
import io.idempotency.engine.Finish;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.OperationSettings;
import io.idempotency.it.servers.TcpProxy;
import io.idempotency.spi.Fingerprint;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Callers who retry, while their Redis dies, hangs or is cut off. The lease outlives the test, so that no attempt may be taken over:
 * every key has one effect at most, and everybody who gets an answer gets the same one.
 */
class RedisUnderLoadTests {

    private static final int CALLERS = 8;
    private static final int KEYS_OF_A_ROUND = 10;
    private static final Duration COMMAND_TIMEOUT = Duration.ofMillis(300);

    enum Driver {
        LETTUCE,
        JEDIS
    }

    // Case 34.
    @ParameterizedTest
    @EnumSource
    void serverThatIsKilledFrozenAndCutOffDoesNothingTwiceAndServesAgain(Driver driver) throws Exception {
        try (RedisServer server = RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
                TcpProxy proxy = TcpProxy.to("127.0.0.1", server.port())) {
            RedisConnectionFactory factory = driver == Driver.LETTUCE
                    ? Factories.lettuce(proxy.port(), COMMAND_TIMEOUT)
                    : Factories.jedis(proxy.port(), COMMAND_TIMEOUT);
            try (Traffic traffic = new Traffic(factory)) {
                traffic.start();
                for (Runnable trouble : List.<Runnable>of(
                        () -> {
                            server.kill();
                            Claims.waitFor(Duration.ofMillis(300));
                            server.restart();
                        },
                        () -> {
                            server.freeze();
                            Claims.waitFor(COMMAND_TIMEOUT.multipliedBy(2));
                            server.thaw();
                        },
                        () -> {
                            proxy.cut();
                            Claims.waitFor(Duration.ofMillis(300));
                            proxy.restore();
                        },
                        () -> {
                            for (int i = 0; i < 20; i++) {
                                proxy.swallowNextReply();
                                Claims.waitFor(Duration.ofMillis(5));
                            }
                        })) {
                    traffic.awaitProgress();
                    trouble.run();
                }
                traffic.awaitProgress();
                traffic.stop();
                traffic.check();
            } finally {
                ((DisposableBean) factory).destroy();
            }
        }
    }

    private static final class Traffic implements AutoCloseable {

        private final IdempotencyEngine engine;
        private final OperationSettings settings = OperationSettings.of("redis-operation", Guarantee.AT_LEAST_ONCE)
                .lease(Duration.ofMinutes(5))
                .build();
        private final ExecutorService threads = Executors.newFixedThreadPool(CALLERS);
        private final List<Future<Boolean>> callers = new ArrayList<>();
        private final AtomicBoolean over = new AtomicBoolean();
        private final AtomicInteger round = new AtomicInteger();
        private final AtomicInteger answered = new AtomicInteger();
        private final Map<String, AtomicInteger> effects = new ConcurrentHashMap<>();
        private final Map<String, Queue<String>> answers = new ConcurrentHashMap<>();
        private final String prefix = UUID.randomUUID().toString();

        Traffic(RedisConnectionFactory factory) {
            engine = IdempotencyEngine.on(RedisIdempotencyStore.builder(factory).build())
                    .build();
        }

        void start() {
            for (int i = 0; i < CALLERS; i++) {
                Random random = new Random(i);
                callers.add(threads.submit(() -> {
                    while (!over.get()) {
                        call(prefix + "-" + round.get() + "-" + random.nextInt(KEYS_OF_A_ROUND));
                    }
                    return true;
                }));
            }
        }

        private void call(String key) {
            try {
                Completion completion = engine.execute(new Call(settings, "", key, Fingerprint.NONE), attempt -> {
                    effects.computeIfAbsent(key, k -> new AtomicInteger()).incrementAndGet();
                    return new Finish.Store(result(answerOf(key)), false);
                });
                String answer = completion instanceof Completion.Replayed replayed
                        ? new String(replayed.result().payload(), StandardCharsets.UTF_8)
                        : answerOf(key);
                answers.computeIfAbsent(key, k -> new ConcurrentLinkedQueue<>()).add(answer);
                answered.incrementAndGet();
            } catch (IdempotencyException e) {
                // In progress, or the store is silent. The caller tries again.
                Thread.yield();
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }

        private String answerOf(String key) {
            return key + ": done";
        }

        /** New keys are served, and their duplicates too. */
        void awaitProgress() {
            round.incrementAndGet();
            int before = answered.get();
            int effectsBefore = effects.size();
            await().atMost(60, TimeUnit.SECONDS)
                    .until(() -> answered.get() > before + 50 && effects.size() > effectsBefore + KEYS_OF_A_ROUND / 2);
        }

        void stop() throws Exception {
            over.set(true);
            for (Future<Boolean> caller : callers) {
                caller.get(60, TimeUnit.SECONDS);
            }
        }

        void check() {
            assertThat(effects).isNotEmpty();
            assertThat(effects)
                    .allSatisfy((key, times) -> assertThat(times).as(key).hasValue(1));
            assertThat(answers).allSatisfy((key, given) -> {
                assertThat(effects).containsKey(key);
                assertThat(given).containsOnly(answerOf(key));
            });
        }

        @Override
        public void close() {
            over.set(true);
            threads.shutdownNow();
            engine.close();
        }
    }
}
