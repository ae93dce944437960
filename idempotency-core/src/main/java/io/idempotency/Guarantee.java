package io.idempotency;

/**
 * What an operation promises when its process crashes, pauses or loses its store.
 *
 * @since 0.1.0
 */
public enum Guarantee {

    /** {@link #EXACTLY_ONCE} where it can hold, else {@link #AT_LEAST_ONCE}. The choice is logged once at start. */
    AUTO,

    /**
     * One committed effect after retries. The completion is written in the business transaction, so it holds for what that
     * transaction covers: this database. A remote call inside the action is at least once.
     */
    EXACTLY_ONCE,

    /** Never lost. A second run is possible once the lease of a vanished owner is over; it is fenced and counted. */
    AT_LEAST_ONCE,

    /**
     * Never a second run within the retention. If the owner vanished, callers are told that the outcome is unknown until a
     * resolver, an operator or time decides.
     */
    AT_MOST_ONCE
}
