package io.idempotency.engine;

import java.util.Optional;

/**
 * The answer to {@link IdempotencyEngine#begin}: run, or use the record's result. Refusals are thrown.
 *
 * @since 0.1.0
 */
public sealed interface Decision {

    /**
     * The caller owns the key and has to end the attempt.
     *
     * @param attempt empty where the work runs unprotected, because the store could not answer and the operation proceeds then
     */
    record Proceed(Optional<RunningAttempt> attempt) implements Decision {}

    /** The work was done before. */
    record Replay(Completion.Replayed completion) implements Decision {}
}
