package io.idempotency;

import java.time.Duration;

/**
 * The call is the duplicate of a finished one and the operation rejects those ({@link OnDuplicate#REJECT}).
 *
 * @since 0.1.0
 */
public final class DuplicateRejectedException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    private final Duration retryAfter;

    public DuplicateRejectedException(String message, Duration retryAfter) {
        super(ProblemCode.DUPLICATE_REJECTED, message);
        this.retryAfter = retryAfter;
    }

    /** The rest of the retention, after which the same key runs again. */
    public Duration retryAfter() {
        return retryAfter;
    }
}
