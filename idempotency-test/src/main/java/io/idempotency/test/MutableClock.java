package io.idempotency.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that stands still until it is told to advance.
 *
 * <pre>
 * MutableClock clock = new MutableClock();
 * new InMemoryIdempotencyStore(clock::nanoTime, clock, 1_000, 1_000_000);
 * </pre>
 *
 * @since 0.1.0
 */
public final class MutableClock extends Clock {

    private final Instant start;
    private final ZoneId zone;
    private final AtomicLong elapsed;

    /** Starts at the first moment of 2026, UTC. */
    public MutableClock() {
        this(Instant.parse("2026-01-01T00:00:00Z"));
    }

    /** Starts at the given moment, UTC. */
    public MutableClock(Instant start) {
        this(start, ZoneOffset.UTC, new AtomicLong());
    }

    private MutableClock(Instant start, ZoneId zone, AtomicLong elapsed) {
        this.start = start;
        this.zone = zone;
        this.elapsed = elapsed;
    }

    /** Moves the clock, and every view of it in another zone, forward. */
    public void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("Time goes forward: " + time);
        }
        elapsed.addAndGet(time.toNanos());
    }

    /** Nanoseconds since the start: stands in for {@link System#nanoTime()}. */
    public long nanoTime() {
        return elapsed.get();
    }

    @Override
    public Instant instant() {
        return start.plusNanos(elapsed.get());
    }

    @Override
    public ZoneId getZone() {
        return zone;
    }

    @Override
    public Clock withZone(ZoneId other) {
        return new MutableClock(start, other, elapsed);
    }
}
