package io.idempotency.it.payments;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;

/** Callers that begin at the same moment. */
final class Callers {

    private Callers() {}

    /** Runs the call once on each of so many threads, with the thread's number. */
    static <T> List<T> atOnce(int callers, IntFunction<T> call) {
        var barrier = new CyclicBarrier(callers);
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        try {
            List<Future<T>> calls = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                int number = i;
                calls.add(threads.submit(() -> {
                    barrier.await();
                    return call.apply(number);
                }));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> running : calls) {
                results.add(running.get());
            }
            return results;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        } finally {
            threads.shutdownNow();
        }
    }
}
