package io.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The record is there, but it or its result cannot be read. The work is never run again because of that.
 *
 * @since 0.1.0
 */
public final class ResultUnreadableException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    public ResultUnreadableException(String message, @Nullable Throwable cause) {
        super(ProblemCode.RESULT_UNREADABLE, message, cause);
    }
}
