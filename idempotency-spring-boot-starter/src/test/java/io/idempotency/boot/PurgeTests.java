package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.PurgeableStore;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/** Case 143. */
class PurgeTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    IdempotencyAutoConfiguration.class,
                    IdempotencyInMemoryAutoConfiguration.class,
                    IdempotencyPurgeAutoConfiguration.class))
            .withPropertyValues("idempotency.purge.interval=10ms", "idempotency.purge.batch-size=7");

    @Test
    void runsWithoutEnableSchedulingInBatchesUntilNothingIsLeft() {
        List<Integer> batches = new CopyOnWriteArrayList<>();
        List<Integer> told = new CopyOnWriteArrayList<>();
        AtomicInteger left = new AtomicInteger(17);

        runner.withBean(
                        IdempotencyStore.class,
                        () -> purging(size -> {
                            batches.add(size);
                            int removed = Math.min(size, left.get());
                            left.addAndGet(-removed);
                            return removed;
                        }))
                .withBean(IdempotencyListener.class, () -> new IdempotencyListener() {
                    @Override
                    public void onPurged(int records) {
                        told.add(records);
                        throw new IllegalStateException("a listener that throws");
                    }
                })
                .run(context -> {
                    await().until(() -> batches.size() > 5);
                    assertThat(batches).containsOnly(7);
                    assertThat(told).containsExactly(7, 7, 3);
                });
    }

    @Test
    void goesOnAfterAFailure() {
        AtomicInteger runs = new AtomicInteger();

        runner.withBean(
                        IdempotencyStore.class,
                        () -> purging(size -> {
                            if (runs.incrementAndGet() < 3) {
                                throw new IllegalStateException("database away");
                            }
                            return 0;
                        }))
                .run(context -> await().until(() -> runs.get() >= 5));
    }

    @Test
    void lagGrowsWhileRunsFail() {
        List<Duration> lags = new CopyOnWriteArrayList<>();

        runner.withBean(IdempotencyListener.class, () -> noting(lags))
                .withBean(
                        IdempotencyStore.class,
                        () -> purging(size -> {
                            throw new IllegalStateException("database away");
                        }))
                .run(context -> await().until(() -> lags.size() >= 3));

        assertThat(lags.subList(0, 3)).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void lagIsZeroAfterARunThatLeftNothing() {
        List<Duration> lags = new CopyOnWriteArrayList<>();

        runner.withBean(IdempotencyListener.class, () -> noting(lags))
                .withPropertyValues("idempotency.store=in-memory")
                .run(context -> await().until(() -> !lags.isEmpty()));

        assertThat(lags).containsOnly(Duration.ZERO);
    }

    @Test
    void healthTellsForHowLongExpiredRecordsWait() {
        PurgeableStore store = (PurgeableStore) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {PurgeableStore.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "find" -> Optional.empty();
                    case "name" -> "own";
                    case "purgeLag" -> Duration.ofMillis(90_400);
                    default -> 0;
                });

        runner.withBean(IdempotencyStore.class, () -> store)
                .withConfiguration(AutoConfigurations.of(IdempotencyHealthBoot3AutoConfiguration.class))
                .run(context -> assertThat(
                                context.getBean(HealthIndicator.class).health().getDetails())
                        .containsEntry("purgeLag", "90s"));
    }

    @Test
    void isAbsentWhereItIsDisabled() {
        runner.withPropertyValues("idempotency.store=in-memory", "idempotency.purge.enabled=false")
                .run(context -> assertThat(context)
                        .hasSingleBean(IdempotencyEngine.class)
                        .doesNotHaveBean(PurgeJob.class));
    }

    @Test
    void doesNothingForAStoreThatForgetsByItself() {
        IdempotencyStore store = (IdempotencyStore) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {IdempotencyStore.class},
                (proxy, method, arguments) -> "own");

        runner.withBean(IdempotencyStore.class, () -> store).run(context -> {
            assertThat(context.getBean(PurgeJob.class).isRunning()).isFalse();
            assertThat(threads()).isZero();
        });
    }

    @Test
    void leavesNoThreadBehind() {
        for (int i = 0; i < 50; i++) {
            runner.withPropertyValues("idempotency.store=in-memory").run(context -> {
                assertThat(context.getBean(PurgeJob.class).isRunning()).isTrue();
                assertThat(threads()).isEqualTo(1);
            });
        }
        await().until(() -> threads() == 0);
    }

    @Test
    void runsOnADaemonThread() {
        runner.withPropertyValues("idempotency.store=in-memory").run(context -> {
            await().until(() -> threads() == 1);
            assertThat(Thread.getAllStackTraces().keySet())
                    .filteredOn(thread -> thread.getName().equals("idempotency-purge"))
                    .allMatch(Thread::isDaemon);
        });
    }

    @Test
    void stopsBeforeEverythingElseAndLetsARunningBatchFinish() {
        List<String> order = new CopyOnWriteArrayList<>();
        CountDownLatch purging = new CountDownLatch(1);
        CountDownLatch closing = new CountDownLatch(1);

        runner.withInitializer(context -> context.addApplicationListener(event -> {
                    if (event instanceof ContextClosedEvent) {
                        closing.countDown();
                    }
                }))
                .withBean(
                        IdempotencyStore.class,
                        () -> purging(size -> {
                            purging.countDown();
                            waitFor(closing);
                            // What stops meanwhile would be in the list first.
                            pause(Duration.ofMillis(200));
                            order.add(Thread.currentThread().isInterrupted() ? "interrupted" : "batch finished");
                            return 0;
                        }))
                .withBean("server", SmartLifecycle.class, () -> new GracefulServer(() -> order.add("server stopped")))
                .run(context -> {
                    assertThat(purging.await(10, TimeUnit.SECONDS)).isTrue();
                    order.clear();
                    context.getSourceApplicationContext().close();
                    assertThat(order).endsWith("batch finished", "server stopped");
                });
    }

    @Test
    void startsAgainWithTheContext() {
        runner.withPropertyValues("idempotency.store=in-memory").run(context -> {
            PurgeJob job = context.getBean(PurgeJob.class);

            context.getSourceApplicationContext().stop();
            assertThat(job.isRunning()).isFalse();

            context.getSourceApplicationContext().start();
            assertThat(job.isRunning()).isTrue();
        });
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.isAlive() && thread.getName().equals("idempotency-purge"))
                .count();
    }

    private static void waitFor(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void pause(Duration duration) {
        try {
            Thread.sleep(duration.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static IdempotencyListener noting(List<Duration> lags) {
        return new IdempotencyListener() {
            @Override
            public void onPurgeRun(Duration lag) {
                lags.add(lag);
            }
        };
    }

    private static IdempotencyStore purging(IntUnaryOperator purge) {
        InMemoryIdempotencyStore store = InMemoryIdempotencyStore.onSystemClock();
        return (IdempotencyStore) Proxy.newProxyInstance(
                PurgeTests.class.getClassLoader(),
                new Class<?>[] {PurgeableStore.class},
                (proxy, method, arguments) -> method.getName().equals("purgeExpired")
                        ? purge.applyAsInt((Integer) arguments[0])
                        : method.invoke(store, arguments));
    }
}
