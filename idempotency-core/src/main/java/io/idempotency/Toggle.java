package io.idempotency;

/**
 * A yes-or-no attribute of {@link Idempotent} that can be left to the configuration.
 *
 * @since 0.1.0
 */
public enum Toggle {

    /** The configured default. */
    DEFAULT,

    /** Yes. */
    ON,

    /** No. */
    OFF
}
