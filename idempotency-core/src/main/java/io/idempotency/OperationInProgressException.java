package io.idempotency;

import java.time.Duration;

/**
 * Another call with the same key is still running, or has taken the key over. A later retry gets its result.
 *
 * @since 0.1.0
 */
public final class OperationInProgressException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    private final Duration retryAfter;

    public OperationInProgressException(String message, Duration retryAfter) {
        super(ProblemCode.IN_PROGRESS, message);
        this.retryAfter = retryAfter;
    }

    /** How long a client had better wait before it asks again: an estimate, never longer than what is left of the lease. */
    public Duration retryAfter() {
        return retryAfter;
    }
}
