package io.idempotency.redis;

import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What the server's clock says now, as far as its answers have told. Every answer says how late it was when it left, so this clock is
 * behind by at most the time that the answer needed.
 *
 * <p>It decides nothing: it tells a caller what is left of the retention of a result that the server has just handed out.
 */
final class ServerClock {

    private static final long STALE_NANOS = Duration.ofSeconds(30).toNanos();
    private static final long USELESS_NANOS = Duration.ofSeconds(60).toNanos();

    private volatile @Nullable Reading reading;

    /** Takes a time in that the server has just told. */
    void heard(long serverMillis) {
        long nanoTime = System.nanoTime();
        Reading current = reading;
        // Of two readings the one that is ahead spent less time on its way.
        if (current == null || current.age(nanoTime) > STALE_NANOS || serverMillis > current.at(nanoTime)) {
            reading = new Reading(serverMillis, nanoTime);
        }
    }

    /** The time in ms since 1970, or empty if the server has told none for a minute. */
    OptionalLong now() {
        long nanoTime = System.nanoTime();
        Reading current = reading;
        return current == null || current.age(nanoTime) > USELESS_NANOS
                ? OptionalLong.empty()
                : OptionalLong.of(current.at(nanoTime));
    }

    private record Reading(long serverMillis, long nanoTime) {

        long age(long nanos) {
            return nanos - nanoTime;
        }

        long at(long nanos) {
            return serverMillis + age(nanos) / 1_000_000;
        }
    }
}
