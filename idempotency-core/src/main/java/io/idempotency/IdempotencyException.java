package io.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A call was refused by the library: its action did not run, or its result was not allowed to count. Messages name the
 * operation and what to do; they never contain a key or a payload.
 *
 * @since 0.1.0
 */
public abstract sealed class IdempotencyException extends RuntimeException
        permits MissingIdempotencyKeyException,
                InvalidIdempotencyKeyException,
                UnknownCallerException,
                KeyReusedException,
                OperationInProgressException,
                OutcomeUnknownException,
                DuplicateRejectedException,
                ResultNotReplayableException,
                ResultUnreadableException,
                RequestTooLargeException,
                StoreUnavailableException {

    private static final long serialVersionUID = 1L;

    private final ProblemCode code;

    IdempotencyException(ProblemCode code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    IdempotencyException(ProblemCode code, String message) {
        this(code, message, null);
    }

    /** The reason, the same for every exception of this class. */
    public ProblemCode code() {
        return code;
    }
}
