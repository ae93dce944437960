package io.idempotency.engine;

import io.idempotency.spi.StoredResult;
import org.jspecify.annotations.Nullable;

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

    /**
     * The result with which the attempt is going to end if nothing goes wrong, where that is known before the work has run. In a
     * transaction it can then be stored together with the claim.
     *
     * @return {@code null} if only the work will tell
     */
    default @Nullable StoredResult resultInAdvance() {
        return null;
    }
}
