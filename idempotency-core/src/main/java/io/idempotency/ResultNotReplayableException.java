package io.idempotency;

/**
 * The work was done, but its result was not kept, so that it cannot be given again.
 *
 * @since 0.1.0
 */
public final class ResultNotReplayableException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    public ResultNotReplayableException(String message) {
        super(ProblemCode.RESULT_NOT_REPLAYABLE, message);
    }
}
