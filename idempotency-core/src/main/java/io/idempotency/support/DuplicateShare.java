package io.idempotency.support;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many of the last claims of an operation were duplicates of finished work: a moving average. Where there are next to none,
 * asking a cache before the database is a round trip for nothing.
 */
final class DuplicateShare {

    private static final int ONE = 1 << 20;
    private static final int SHIFT = 5;

    /** Two in a hundred. */
    private static final int WORTH_ASKING = ONE / 50;

    private final AtomicInteger share = new AtomicInteger();

    void record(boolean duplicate) {
        share.updateAndGet(old -> old + ((duplicate ? ONE - old : -old) >> SHIFT));
    }

    boolean isWorthAsking() {
        return share.get() >= WORTH_ASKING;
    }
}
