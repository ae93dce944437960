package io.idempotency;

/**
 * The caller, whose name is part of the key's scope, is not known.
 *
 * @since 0.1.0
 */
public final class UnknownCallerException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    public UnknownCallerException(String message) {
        super(ProblemCode.CALLER_UNKNOWN, message);
    }
}
