package io.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The first call ended with a failure that was stored as its result; this is its replay. The first caller got the original
 * exception. Where its type is one that the operation names as a result and can be made from a message, the replay is an exception of
 * that type, with this one as suppressed.
 *
 * @since 0.1.0
 */
public final class ReplayedFailureException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String failureType;

    public ReplayedFailureException(String failureType, @Nullable String message) {
        super(message);
        this.failureType = failureType;
    }

    /** Class name of the exception that the first call threw. It is text from the store: never load a class by it. */
    public String failureType() {
        return failureType;
    }
}
