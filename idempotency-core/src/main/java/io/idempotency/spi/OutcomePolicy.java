package io.idempotency.spi;

import io.idempotency.Guarantee;

/**
 * Decides what becomes of an attempt whose action threw. Under {@link Guarantee#EXACTLY_ONCE} the rollback rules come first: where
 * they want a commit, the failure is stored in it.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface OutcomePolicy {

    /** Called once per attempt, on the thread of the action. Must not throw. */
    Disposition onThrow(Throwable failure, Guarantee guarantee);

    /** What becomes of a finished attempt. */
    enum Disposition {
        /** Duplicates get this result. */
        STORE,
        /** The key is free: a retry runs again now. Right only where nothing happened, or where a second run is accepted. */
        RELEASE,
        /** The outcome is not known: the record stays as it is until its lease is over, and then its guarantee decides. */
        HOLD,
        /** No opinion. For HTTP the status of the response decides, elsewhere it is {@link #RELEASE}. */
        UNDECIDED
    }
}
