package io.idempotency;

/**
 * Thrown by {@link IdempotencyContext#ensureOwned()} when another attempt has taken the key over: what the running attempt does
 * from here on is not covered any more.
 *
 * @since 0.1.0
 */
public final class LeaseLostException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public LeaseLostException(String message) {
        super(message);
    }
}
