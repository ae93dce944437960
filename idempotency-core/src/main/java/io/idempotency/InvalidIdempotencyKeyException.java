package io.idempotency;

/**
 * The key is blank, malformed, too long, given several times, or of a type without a stable text form.
 *
 * @since 0.1.0
 */
public final class InvalidIdempotencyKeyException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    public InvalidIdempotencyKeyException(String message) {
        super(ProblemCode.KEY_INVALID, message);
    }
}
