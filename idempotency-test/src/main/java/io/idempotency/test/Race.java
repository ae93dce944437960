package io.idempotency.test;

import io.idempotency.StoreUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** Runs the same thing on many threads that start together. */
final class Race {

    private static final long LIMIT_SECONDS = 60;

    // Kept for the next race: some facts run fifty of them.
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "race");
        thread.setDaemon(true);
        return thread;
    });

    private Race() {}

    /** What each thread got, in the order of the threads. The first failure of any thread is thrown. */
    static <R> List<R> of(int threads, IntFunction<R> runner) {
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Future<R>> futures = new ArrayList<>();
        try {
            for (int i = 0; i < threads; i++) {
                int index = i;
                Callable<R> task = () -> {
                    start.await(LIMIT_SECONDS, TimeUnit.SECONDS);
                    return runner.apply(index);
                };
                futures.add(THREADS.submit(task));
            }
            List<R> results = new ArrayList<>();
            for (Future<R> future : futures) {
                results.add(future.get(LIMIT_SECONDS, TimeUnit.SECONDS));
            }
            return results;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted in a race", e);
        } catch (ExecutionException e) {
            throw new AssertionError("A thread of the race failed: " + e.getCause(), e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("A thread of the race did not end within " + LIMIT_SECONDS + " s", e);
        } finally {
            futures.forEach(future -> future.cancel(true));
        }
    }

    /**
     * Asks again while the store says that it cannot know: as long as others keep a record locked, that is a true answer. No reply is
     * lost in a race, so nothing has happened then.
     */
    static <R> R answerOf(Supplier<R> call) {
        long start = System.nanoTime();
        while (true) {
            try {
                return call.get();
            } catch (StoreUnavailableException e) {
                if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(LIMIT_SECONDS / 2)) {
                    throw e;
                }
                LockSupport.parkNanos(1_000_000);
            }
        }
    }
}
