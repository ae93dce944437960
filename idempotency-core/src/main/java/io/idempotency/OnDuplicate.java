package io.idempotency;

/**
 * What the duplicate of a finished call gets.
 *
 * @since 0.1.0
 */
public enum OnDuplicate {

    /** The configured default, which is {@link #REPLAY}. */
    DEFAULT,

    /** The first result. */
    REPLAY,

    /** A {@link DuplicateRejectedException}: the classic "no repeat submit" within the retention. */
    REJECT
}
