package io.idempotency.simulation;

/** A rule that is taken away, to see that the simulation notices. */
enum Weakness {
    NONE,
    /** What threw without saying whether it was done is free for the next call. */
    WHAT_IS_OPEN_IS_RELEASED,
    /** A record lives as long as its lease, so that a dead owner looks like an absent key. */
    KEY_LIVES_AS_LONG_AS_ITS_LEASE,
    /** Whoever completes is taken for the owner. */
    OWNER_IS_NOT_COMPARED,
    /** A commit without an answer is taken for committed. */
    PROBE_GUESSES,
    /** The last statement of a transaction overwrites the result of another. */
    LAST_STATEMENT_DOES_NOT_LOOK
}
