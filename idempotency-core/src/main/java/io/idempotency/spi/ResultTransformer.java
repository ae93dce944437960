package io.idempotency.spi;

/**
 * Encrypts or compresses stored payloads. Its id is kept with the record, so that older records stay readable.
 *
 * @since 0.1.0
 */
public interface ResultTransformer {

    /** At most 64 ASCII characters. */
    String id();

    /** Called before the result is stored, inside the transaction where there is one. */
    byte[] transform(byte[] payload);

    /** The inverse; what it throws becomes a {@link io.idempotency.ResultUnreadableException}. */
    byte[] restore(byte[] stored);
}
