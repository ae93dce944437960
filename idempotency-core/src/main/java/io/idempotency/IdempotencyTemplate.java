package io.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * Gives all calls with one key the result of one action, for code without annotations. What holds when a process crashes says the
 * {@link Guarantee} of the operation.
 *
 * <p>The action runs on the calling thread. Under {@link Guarantee#EXACTLY_ONCE} it runs in a transaction that the template opens,
 * or in the caller's if one is open on the store's database; its result is written in that same transaction. What the action
 * throws reaches the caller unchanged. Thread-safe.
 *
 * @since 0.1.0
 */
public interface IdempotencyTemplate {

    /**
     * Runs the action, or gives the first result of the same key.
     *
     * @throws IdempotencyException if the call is refused; each subclass is one reason
     * @throws ReplayedFailureException if the first result was a stored failure
     * @throws IllegalStateException if the action has returned, but its transaction was marked for rollback: nothing of what it did
     *     is there
     * @throws E what the action throws
     */
    <T extends @Nullable Object, E extends Exception> Execution<T> execute(
            IdempotentOperation<T> operation, String key, Action<T, E> action) throws E;

    /**
     * Like {@link #execute(IdempotentOperation, String, Action)}, with the payload that makes a reuse of the key for something else
     * a {@link KeyReusedException}.
     *
     * @param payload whatever identifies what is asked for; only its digest is stored
     */
    <T extends @Nullable Object, E extends Exception> Execution<T> execute(
            IdempotentOperation<T> operation, String key, byte[] payload, Action<T, E> action) throws E;

    /** The work that must not be repeated. */
    @FunctionalInterface
    interface Action<T extends @Nullable Object, E extends Exception> {

        /** Runs once per attempt. {@link IdempotencyContext#current()} is bound meanwhile. */
        T run() throws E;
    }
}
