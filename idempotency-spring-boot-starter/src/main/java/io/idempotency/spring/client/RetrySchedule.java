package io.idempotency.spring.client;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** When a call is sent again. */
final class RetrySchedule {

    private static final int CONFLICT = 409;
    private static final int UNAVAILABLE = 503;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    private final Duration deadline;

    RetrySchedule(Duration deadline) {
        this.deadline = deadline;
    }

    Call begin(long now) {
        return new Call(now);
    }

    /** Attempts of one call. */
    final class Call {

        private final long begin;
        private Duration next = FIRST_PAUSE;

        private Call(long begin) {
            this.begin = begin;
        }

        /** @return null if this is the answer, or if there is no time left for another one */
        @Nullable
        Duration pauseAfter(int status, @Nullable String retryAfter, long now) {
            Duration wanted = seconds(retryAfter);
            if (status == CONFLICT) {
                return wanted == null ? null : inTime(wanted, now);
            }
            if (status != UNAVAILABLE) {
                return null;
            }
            return inTime(wanted == null ? growing() : wanted, now);
        }

        /** @return null if there is no time left */
        @Nullable
        Duration pauseAfterFailure(long now) {
            return inTime(growing(), now);
        }

        private @Nullable Duration inTime(Duration pause, long now) {
            return pause.plusNanos(now - begin).compareTo(deadline) < 0 ? pause : null;
        }

        // Half of it at random, so that clients that failed together do not come again together.
        private Duration growing() {
            long half = next.toMillis() / 2;
            Duration pause =
                    Duration.ofMillis(half + ThreadLocalRandom.current().nextLong(half + 1));
            next = next.multipliedBy(2).compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : next.multipliedBy(2);
            return pause;
        }
    }

    // A date would need a clock that agrees with the server's.
    private static @Nullable Duration seconds(@Nullable String retryAfter) {
        return retryAfter == null || !retryAfter.matches("\\d{1,6}")
                ? null
                : Duration.ofSeconds(Long.parseLong(retryAfter));
    }
}
