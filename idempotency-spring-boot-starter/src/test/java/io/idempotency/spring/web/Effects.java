package io.idempotency.spring.web;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts what handlers really did, apart from every store, and lets a test stop a handler half way. */
final class Effects {

    private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();
    private final Map<String, Stop> stops = new ConcurrentHashMap<>();

    /** One more; the new number. */
    int add(String name) {
        return counts.computeIfAbsent(name, absent -> new AtomicInteger()).incrementAndGet();
    }

    int of(String name) {
        AtomicInteger count = counts.get(name);
        return count == null ? 0 : count.get();
    }

    /** Makes the next handler of that name wait. */
    Stop stop(String name) {
        Stop stop = new Stop();
        stops.put(name, stop);
        return stop;
    }

    void passStop(String name) {
        Stop stop = stops.remove(name);
        if (stop != null) {
            stop.arrived.countDown();
            await(stop.open);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("Waited for too long");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    static final class Stop implements AutoCloseable {

        private final CountDownLatch arrived = new CountDownLatch(1);
        private final CountDownLatch open = new CountDownLatch(1);

        void awaitArrival() {
            await(arrived);
        }

        @Override
        public void close() {
            open.countDown();
        }
    }
}
