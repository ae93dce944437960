package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Owner;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that wait look again at once when an attempt of their engine has ended. */
class WaitersTests {

    private final Sleepless runtime = new Sleepless();
    private final IdempotencyEngine engine = IdempotencyEngine.on(InMemoryIdempotencyStore.onSystemClock())
            .runtime(runtime)
            .maxWaiters(2)
            .build();

    @AfterEach
    void stop() {
        engine.close();
    }

    private static Call call(String key) {
        OperationSettings settings = OperationSettings.of("pay", Guarantee.AT_LEAST_ONCE)
                .waitAtMost(Duration.ofMinutes(10))
                .build();
        return new Call(settings, "", key, Fingerprint.NONE);
    }

    private RunningAttempt begin(String key) {
        return ((Decision.Proceed) engine.begin(call(key))).attempt().orElseThrow();
    }

    private CompletableFuture<Decision> beginLater(String key) {
        return CompletableFuture.supplyAsync(() -> engine.begin(call(key)), task -> new Thread(task).start());
    }

    @Test
    void getTheResultWhenItIsThere() throws Exception {
        RunningAttempt first = begin("k");
        CompletableFuture<Decision> second = beginLater("k");
        CompletableFuture<Decision> third = beginLater("k");
        runtime.awaitSleepers(2);

        first.finish(new Finish.Store(Node.result("paid"), false));

        assertThat(second.get(30, TimeUnit.SECONDS)).isInstanceOf(Decision.Replay.class);
        assertThat(third.get(30, TimeUnit.SECONDS)).isInstanceOf(Decision.Replay.class);
        assertThat(runtime.overslept).hasValue(0);
    }

    @Test
    void getTheKeyWhenItIsFree() throws Exception {
        RunningAttempt first = begin("k");
        CompletableFuture<Decision> second = beginLater("k");
        runtime.awaitSleepers(1);

        first.finish(new Finish.Release());

        assertThat(((Decision.Proceed) second.get(30, TimeUnit.SECONDS)).attempt())
                .isPresent();
        assertThat(runtime.overslept).hasValue(0);
    }

    /** Such an attempt has no record before it ends, so that only its own engine knows when to look. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void getTheResultOfATransactionWhenItIsCommitted(boolean keyIsThereBefore) throws Exception {
        ScriptedTransactionalStore store = new ScriptedTransactionalStore();
        Call call = transactional(store);
        try (IdempotencyEngine other =
                IdempotencyEngine.on(store).runtime(runtime).build()) {
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            Work work = attempt -> {
                begun.countDown();
                end.await();
                return new Finish.Store(Node.result("paid"), false);
            };
            CompletableFuture<Completion> first = later(() -> keyIsThereBefore
                    ? other.execute(call, work)
                    : other.executeLate(call.settings(), claim -> work.run(claim.of(call))));
            assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
            store.answer("claim", new ClaimResult.Contended(), new ClaimResult.Contended());
            store.answer(
                    "claim",
                    new ClaimResult.Done(
                            Fingerprint.NONE, runtime.newOwner(), Node.result("paid"), Duration.ofHours(1)));
            CompletableFuture<Completion> second = later(() -> other.execute(transactional(store), work));
            runtime.awaitSleepers(1);

            end.countDown();

            assertThat(first.get(30, TimeUnit.SECONDS)).isEqualTo(new Completion.Executed(true, false));
            assertThat(second.get(30, TimeUnit.SECONDS)).isInstanceOf(Completion.Replayed.class);
            assertThat(runtime.overslept).hasValue(0);
        }
    }

    /** Of the same key, each in a transaction of its own. */
    private static Call transactional(ScriptedTransactionalStore store) {
        OperationSettings settings = OperationSettings.of("pay", Guarantee.EXACTLY_ONCE)
                .transactions(new ScriptedTransactions(store.calls))
                .waitAtMost(Duration.ofMinutes(10))
                .build();
        return new Call(settings, "", "k", Fingerprint.NONE);
    }

    private static CompletableFuture<Completion> later(Execution execution) {
        CompletableFuture<Completion> completion = new CompletableFuture<>();
        new Thread(() -> {
                    try {
                        completion.complete(execution.run());
                    } catch (Throwable failure) {
                        completion.completeExceptionally(failure);
                    }
                })
                .start();
        return completion;
    }

    private interface Execution {
        Completion run() throws Throwable;
    }

    /** Nobody is woken by other keys, and whoever has been woken leaves his place. */
    @ParameterizedTest
    @ValueSource(strings = {"other", "K"})
    void areNotWokenByOtherKeys(String other) throws Exception {
        RunningAttempt first = begin("k");
        CompletableFuture<Decision> second = beginLater("k");
        runtime.awaitSleepers(1);

        begin(other).finish(new Finish.Release());
        assertThat(runtime.permits()).isZero();
        first.finish(new Finish.Release());
        second.get(30, TimeUnit.SECONDS);

        RunningAttempt again = begin("l");
        CompletableFuture<Decision> one = beginLater("l");
        CompletableFuture<Decision> two = beginLater("l");
        runtime.awaitSleepers(2);
        again.finish(new Finish.Store(Node.result("paid"), false));
        assertThat(one.get(30, TimeUnit.SECONDS)).isInstanceOf(Decision.Replay.class);
        assertThat(two.get(30, TimeUnit.SECONDS)).isInstanceOf(Decision.Replay.class);
    }

    /** Sleeps until it is woken. */
    private static final class Sleepless implements EngineRuntime {

        private final EngineRuntime real = EngineRuntime.system();
        private final Semaphore sleepers = new Semaphore(0);
        private final AtomicInteger overslept = new AtomicInteger();
        private volatile Semaphore last = new Semaphore(0);

        void awaitSleepers(int count) throws InterruptedException {
            assertThat(sleepers.tryAcquire(count, 30, TimeUnit.SECONDS)).isTrue();
        }

        int permits() {
            return last.availablePermits();
        }

        @Override
        public void sleep(Duration atMost, Semaphore permit) throws InterruptedException {
            last = permit;
            sleepers.release();
            if (!permit.tryAcquire(60, TimeUnit.SECONDS)) {
                overslept.incrementAndGet();
            }
        }

        @Override
        public void sleep(Duration duration) throws InterruptedException {
            real.sleep(duration);
        }

        @Override
        public long nanoTime() {
            return real.nanoTime();
        }

        @Override
        public Owner newOwner() {
            return real.newOwner();
        }

        @Override
        public double random() {
            return real.random();
        }

        @Override
        public Scheduled schedule(Duration delay, Runnable task) {
            return real.schedule(delay, task);
        }

        @Override
        public void close() {
            real.close();
        }
    }
}
