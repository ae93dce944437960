package io.idempotency.support;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Keeps calls away from something that does not answer. After a failure it is open for a pause that doubles with every further
 * failure; then one probe may find out, and only its success closes it.
 */
final class Breaker {

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final LongSupplier nanoTime;
    private final AtomicLong probes = new AtomicLong();
    private volatile State state = State.CLOSED;

    Breaker(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    boolean isClosed() {
        return state.pause.isZero();
    }

    /** Whether the caller is the one who may find out if it answers again. */
    boolean mayProbe() {
        State current = state;
        long number = probes.get();
        return !current.pause.isZero()
                && nanoTime.getAsLong() - current.until >= 0
                && number == current.probe
                && probes.compareAndSet(number, number + 1);
    }

    void succeeded() {
        state = State.CLOSED;
    }

    /** Whether it was closed before. */
    synchronized boolean failed() {
        State current = state;
        long now = nanoTime.getAsLong();
        if (!current.pause.isZero() && now - current.until < 0) {
            return false;
        }
        Duration pause = current.pause.isZero() ? FIRST_PAUSE : current.pause.multipliedBy(2);
        pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
        state = new State(pause, now + pause.toNanos(), probes.get());
        return current.pause.isZero();
    }

    /**
     * Where it stands.
     *
     * @param pause zero: closed
     * @param until when a probe is due
     * @param probe number of the probe that may be made then
     */
    private record State(Duration pause, long until, long probe) {

        private static final State CLOSED = new State(Duration.ZERO, 0, 0);
    }
}
