package io.idempotency;

/**
 * How the payload of a call is compared with the payload of the first call under the same key.
 *
 * @since 0.1.0
 */
public enum FingerprintScheme {

    /** The configured default. */
    DEFAULT,

    /** Byte for byte. */
    RAW,

    /** JSON by value: member order and white space do not matter, numbers are compared by value. Anything else as {@link #RAW}. */
    JSON,

    /** Payloads are not compared. */
    NONE
}
