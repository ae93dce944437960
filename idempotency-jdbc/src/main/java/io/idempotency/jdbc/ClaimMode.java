package io.idempotency.jdbc;

/**
 * How a claim becomes part of the business transaction. A claim inside a transaction that the application has opened always joins
 * it, whatever the mode.
 *
 * @since 0.1.0
 */
public enum ClaimMode {

    /** {@link #JOINED} where the database can tell at once that a key is taken (PostgreSQL), else {@link #SEPARATE}. */
    AUTO,

    /** The claim is made in the business transaction itself. Nothing is committed before it: one commit per call. */
    JOINED,

    /** An empty record is committed first and locked by the business transaction: one commit more, the same guarantee. */
    SEPARATE
}
