package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.engine.EngineRuntime.Scheduled;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Time, chance and tasks as they are when nobody plays with them. */
class SystemRuntimeTests {

    private final EngineRuntime runtime = EngineRuntime.system();

    @AfterEach
    void close() {
        runtime.close();
    }

    @Test
    void sleepsAsLongAsItIsTold() throws InterruptedException {
        long start = runtime.nanoTime();

        runtime.sleep(Duration.ofMillis(50));

        assertThat(runtime.nanoTime() - start)
                .isGreaterThanOrEqualTo(Duration.ofMillis(50).toNanos());
    }

    @Test
    void sleepsUntilItGetsThePermitAndTakesAllThatThereAre() throws Exception {
        Semaphore permit = new Semaphore(2);
        CompletableFuture<Boolean> woken = CompletableFuture.supplyAsync(() -> {
            try {
                runtime.sleep(Duration.ofHours(1), permit);
                return true;
            } catch (InterruptedException e) {
                return false;
            }
        });

        assertThat(woken.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(permit.availablePermits()).isZero();
    }

    @Test
    void sleepsNoLongerThanItMayWithoutAPermit() throws InterruptedException {
        long start = runtime.nanoTime();

        runtime.sleep(Duration.ofMillis(50), new Semaphore(0));

        assertThat(runtime.nanoTime() - start)
                .isGreaterThanOrEqualTo(Duration.ofMillis(50).toNanos());
    }

    @Test
    void canBeInterruptedInItsSleep() {
        Thread.currentThread().interrupt();

        assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> runtime.sleep(Duration.ofHours(1)));
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void namesEveryOwnerAnew() {
        assertThat(runtime.newOwner()).isNotEqualTo(runtime.newOwner());
    }

    @Test
    void spreadsBetweenZeroAndOne() {
        Set<Double> numbers = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            numbers.add(runtime.random());
        }

        assertThat(numbers).hasSizeGreaterThan(90).allMatch(number -> number >= 0 && number < 1);
    }

    @Test
    void runsTasksLaterOnThreadsThatNeverKeepAProcessAlive() throws Exception {
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        long start = System.nanoTime();

        runtime.schedule(Duration.ofMillis(50), () -> ran.complete(Thread.currentThread()));

        Thread thread = ran.get(30, TimeUnit.SECONDS);
        assertThat(System.nanoTime() - start)
                .isGreaterThanOrEqualTo(Duration.ofMillis(50).toNanos());
        assertThat(thread.isDaemon()).isTrue();
        assertThat(thread.getName()).startsWith("idempotency-lease-");
    }

    // A renewal may block for as long as the store does not answer.
    @Test
    void runsFourTasksAtOnce() throws InterruptedException {
        CountDownLatch together = new CountDownLatch(4);
        for (int i = 0; i < 4; i++) {
            runtime.schedule(Duration.ZERO, () -> {
                together.countDown();
                try {
                    together.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }

        assertThat(together.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void runsNothingThatWasCancelledOrCameAfterTheEnd() throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Scheduled cancelled = runtime.schedule(Duration.ofMillis(100), () -> ran.set(true));
        cancelled.cancel();
        runtime.schedule(Duration.ofMillis(300), () -> ran.set(true));
        Scheduled running = runtime.schedule(Duration.ZERO, () -> {
            begun.countDown();
            try {
                interrupted.complete(!open.await(30, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                interrupted.complete(true);
            }
        });
        assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();

        running.cancel();
        runtime.close();
        runtime.schedule(Duration.ZERO, () -> ran.set(true)).cancel();
        open.countDown();

        assertThat(interrupted.get(30, TimeUnit.SECONDS))
                .as("what runs goes on")
                .isFalse();
        Awaitility.await()
                .during(Duration.ofMillis(500))
                .atMost(Duration.ofSeconds(30))
                .untilFalse(ran);
    }
}
