package io.idempotency.spi;

/**
 * Encrypts or compresses stored payloads. Its id is kept with the record, so that older records stay readable. Called by many
 * threads at once.
 *
 * @since 0.1.0
 */
public interface ResultTransformer {

    /** At most 64 ASCII characters. */
    String id();

    /**
     * Called before the result is stored, inside the transaction where there is one. What it throws rolls that back; without one, the
     * caller gets his result, and duplicates are refused until the lease is over.
     */
    byte[] transform(byte[] payload);

    /** The inverse; what it throws becomes a {@link io.idempotency.ResultUnreadableException}. */
    byte[] restore(byte[] stored);
}
