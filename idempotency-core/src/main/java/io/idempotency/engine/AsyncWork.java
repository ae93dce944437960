package io.idempotency.engine;

import java.util.concurrent.CompletionStage;

/**
 * What a door wants to run once, where the end comes later.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface AsyncWork {

    /**
     * Begins the action on the calling thread.
     *
     * @return completes with how the attempt ends, or with what the action threw
     */
    CompletionStage<Finish> start(Attempt attempt) throws Throwable;
}
