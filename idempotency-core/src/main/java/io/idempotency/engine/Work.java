package io.idempotency.engine;

/**
 * What a door wants to run once.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface Work {

    /**
     * Runs the action on the calling thread, in the transaction of the attempt where there is one, and says how the attempt ends.
     * What it throws reaches the caller of the engine unchanged, after the attempt was ended as the policy wants it.
     */
    Finish run(Attempt attempt) throws Throwable;
}
