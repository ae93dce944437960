package io.idempotency.engine;

import io.idempotency.IdempotencyContext;

/**
 * A leased attempt that ends elsewhere than it began, for example when an asynchronous response completes. Its lease is renewed
 * until it ends or its maximum execution time is over. The first call of {@link #finish} or {@link #fail} ends it; later ones throw
 * {@link IllegalStateException}.
 *
 * @since 0.1.0
 */
public interface RunningAttempt extends Attempt {

    /**
     * Makes the calling thread run a part of the work until the result is closed on it: {@link IdempotencyContext#current()} is this
     * attempt's, and calls with the same key join it. Several threads may be bound at once.
     */
    IdempotencyContext.Scope bind();

    /**
     * Ends the attempt. Called on any thread; reaches the store.
     *
     * @return the answer of this call: its own result, or that of the attempt that has taken the key over
     * @throws io.idempotency.IdempotencyException if the lease was lost and the record has no answer
     */
    Completion finish(Finish finish);

    /** Ends the attempt as the policy wants it for an exception. What goes wrong meanwhile is added to it as suppressed. */
    void fail(Throwable failure);
}
