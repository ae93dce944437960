package io.idempotency;

/**
 * What the library does with the calls of an operation.
 *
 * @since 0.1.0
 */
public enum Mode {
    /** It protects them. */
    ENFORCE,
    /** It lets them run unprotected, and counts what would have become of them. No answer changes. */
    OBSERVE,
    /** It lets them run unprotected. */
    OFF
}
