package io.idempotency.engine;

import io.idempotency.spi.RecordId;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Lets a bounded number of calls wait, each until a deadline that nothing moves. They look again from time to time, and at once when an
 * attempt of this engine has ended; of those of other nodes only the store knows.
 */
final class Waiters {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(25);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    private final EngineRuntime runtime;
    private final Semaphore places;
    private final ConcurrentMap<RecordId, Set<Semaphore>> asleep = new ConcurrentHashMap<>();

    Waiters(EngineRuntime runtime, int places) {
        this.runtime = runtime;
        this.places = new Semaphore(places);
    }

    /** The waiting of one call; its deadline counts from now. */
    Waiting until(RecordId id, Duration atMost) {
        return new Waiting(id, atMost);
    }

    /** An attempt has ended, and its record says how. */
    void ended(RecordId id) {
        Set<Semaphore> waiting = asleep.get(id);
        if (waiting != null) {
            waiting.forEach(Semaphore::release);
        }
    }

    final class Waiting implements AutoCloseable {

        private final RecordId id;
        private final boolean allowed;
        private final long deadline;
        private Duration pause = FIRST_PAUSE;
        private @Nullable Semaphore permit;

        private Waiting(RecordId id, Duration atMost) {
            this.id = id;
            allowed = !atMost.isZero();
            deadline = runtime.nanoTime() + atMost.toNanos();
        }

        /** Sleeps a little; false if this call may not wait (any longer). No connection may be held meanwhile. */
        boolean again() {
            long left = deadline - runtime.nanoTime();
            if (!allowed || left <= 0) {
                return false;
            }
            // Kept until the end: what ends between two looks is not missed.
            Semaphore mine = permit == null ? takePlace() : permit;
            if (mine == null) {
                return false;
            }
            permit = mine;
            try {
                runtime.sleep(Duration.ofNanos(Math.min(left, spread(pause))), mine);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
            pause = min(pause.multipliedBy(2), LONGEST_PAUSE);
            return true;
        }

        private @Nullable Semaphore takePlace() {
            if (!places.tryAcquire()) {
                return null;
            }
            Semaphore mine = new Semaphore(0);
            asleep.compute(id, (key, others) -> {
                Set<Semaphore> all = others == null ? ConcurrentHashMap.newKeySet() : others;
                all.add(mine);
                return all;
            });
            return mine;
        }

        @Override
        public void close() {
            Semaphore mine = permit;
            if (mine != null) {
                permit = null;
                asleep.computeIfPresent(id, (key, all) -> all.remove(mine) && all.isEmpty() ? null : all);
                places.release();
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
