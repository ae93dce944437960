package io.idempotency;

/**
 * The operation requires a key and the call carries none.
 *
 * @since 0.1.0
 */
public final class MissingIdempotencyKeyException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    public MissingIdempotencyKeyException(String message) {
        super(ProblemCode.KEY_MISSING, message);
    }
}
