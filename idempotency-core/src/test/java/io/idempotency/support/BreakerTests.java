package io.idempotency.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class BreakerTests {

    private static final Duration SECOND = Duration.ofSeconds(1);

    /** So that the first pause ends where the numbers of nanoseconds begin again from the smallest. */
    private final AtomicLong nanoTime = new AtomicLong(Long.MAX_VALUE - SECOND.toNanos() / 2);

    private final Breaker breaker = new Breaker(nanoTime::get);

    private void pass(Duration time) {
        nanoTime.addAndGet(time.toNanos());
    }

    private void assertProbedAfter(Duration pause) {
        pass(pause.minusNanos(1));
        assertThat(breaker.mayProbe()).as("just before " + pause).isFalse();
        pass(Duration.ofNanos(1));
        assertThat(breaker.mayProbe()).as("after " + pause).isTrue();
        assertThat(breaker.mayProbe()).as("a second probe after " + pause).isFalse();
    }

    @Test
    void isClosedUntilAFailure() {
        assertThat(breaker.isClosed()).isTrue();
        assertThat(breaker.mayProbe()).isFalse();

        assertThat(breaker.failed()).isTrue();

        assertThat(breaker.isClosed()).isFalse();
    }

    @Test
    void waitsTwiceAsLongAfterEachProbeThatFailsAndHalfAMinuteAtMost() {
        breaker.failed();

        for (int seconds : new int[] {1, 2, 4, 8, 16, 30, 30}) {
            assertProbedAfter(SECOND.multipliedBy(seconds));
            assertThat(breaker.failed()).as("closed before").isFalse();
            assertThat(breaker.isClosed()).isFalse();
        }
    }

    // Of many calls that fail at once, one opens it, and the others do not make the pause longer.
    @Test
    void countsFailuresOfOneMomentOnce() {
        assertThat(breaker.failed()).isTrue();
        pass(SECOND.dividedBy(4));
        assertThat(breaker.failed()).isFalse();
        assertThat(breaker.failed()).isFalse();

        assertProbedAfter(SECOND.minus(SECOND.dividedBy(4)));
    }

    @Test
    void isClosedByAProbeThatSucceedsAndBeginsAnew() {
        breaker.failed();
        assertProbedAfter(SECOND);
        breaker.failed();
        assertProbedAfter(SECOND.multipliedBy(2));

        breaker.succeeded();

        assertThat(breaker.isClosed()).isTrue();
        assertThat(breaker.mayProbe()).isFalse();
        assertThat(breaker.failed()).isTrue();
        assertProbedAfter(SECOND);
    }
}
