package io.idempotency;

/**
 * The request body is larger than the configured limit, so that it cannot be compared with a duplicate.
 *
 * @since 0.1.0
 */
public final class RequestTooLargeException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    public RequestTooLargeException(String message) {
        super(ProblemCode.REQUEST_TOO_LARGE, message);
    }
}
