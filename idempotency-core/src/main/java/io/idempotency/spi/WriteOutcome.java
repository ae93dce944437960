package io.idempotency.spi;

/**
 * Whether an owner's write took place.
 *
 * @since 0.1.0
 */
public enum WriteOutcome {

    /** Done, now or by an earlier sending of the same command. */
    APPLIED,

    /** Nothing was changed: the record is gone, done by another attempt, or owned by another one. */
    LOST
}
