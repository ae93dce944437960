package io.idempotency.engine;

import org.jspecify.annotations.Nullable;

/**
 * Work that learns its key on the way, in a transaction that is there before the key is.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface LateWork {

    /**
     * Runs the work on the calling thread and says how its attempt ends. What it does before its claim is undone if the claim is not
     * granted. Without a claim {@link Finish.Store} commits the transaction, everything else rolls it back, and nothing is recorded.
     */
    Finish run(Claim claim) throws Throwable;

    /** The one claim of the work. */
    @FunctionalInterface
    interface Claim {

        /**
         * Claims the key in the work's transaction.
         *
         * @return {@code null} if the work must end now without another effect, because the key is not free: the engine rolls back and
         *     answers
         */
        @Nullable
        Attempt of(Call call);
    }
}
