package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.Semaphore;

/** Lets a bounded number of calls wait, each until a deadline that nothing moves. */
final class Waiters {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(25);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    private final EngineRuntime runtime;
    private final Semaphore places;

    Waiters(EngineRuntime runtime, int places) {
        this.runtime = runtime;
        this.places = new Semaphore(places);
    }

    /** The waiting of one call; its deadline counts from now. */
    Waiting until(Duration atMost) {
        return new Waiting(atMost);
    }

    final class Waiting implements AutoCloseable {

        private final boolean allowed;
        private final long deadline;
        private Duration pause = FIRST_PAUSE;
        private boolean placed;

        private Waiting(Duration atMost) {
            allowed = !atMost.isZero();
            deadline = runtime.nanoTime() + atMost.toNanos();
        }

        /** Sleeps a little; false if this call may not wait (any longer). No connection may be held meanwhile. */
        boolean again() {
            long left = deadline - runtime.nanoTime();
            if (!allowed || left <= 0 || !takePlace()) {
                return false;
            }
            try {
                runtime.sleep(Duration.ofNanos(Math.min(left, spread(pause))));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
            pause = min(pause.multipliedBy(2), LONGEST_PAUSE);
            return true;
        }

        private boolean takePlace() {
            if (!placed) {
                placed = places.tryAcquire();
            }
            return placed;
        }

        @Override
        public void close() {
            if (placed) {
                places.release();
                placed = false;
            }
        }
    }

    private long spread(Duration pause) {
        return (long) (pause.toNanos() * (0.75 + runtime.random() / 2));
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
