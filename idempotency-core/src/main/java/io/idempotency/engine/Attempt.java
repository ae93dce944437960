package io.idempotency.engine;

import io.idempotency.IdempotencyContext;
import io.idempotency.spi.OutcomePolicy.Disposition;
import org.jspecify.annotations.Nullable;

/**
 * One run of an action, while it runs. Used by one thread at a time.
 *
 * @since 0.1.0
 */
public interface Attempt {

    /** What the action may ask; {@code null} in an unprotected run. Bound to the thread by the engine while the work runs. */
    @Nullable
    IdempotencyContext context();

    /** Whether the work runs in a transaction in which its result is going to be stored. */
    boolean transactional();

    /** Whether that transaction can only be rolled back. Always false without one. */
    boolean rollbackOnly();

    /**
     * Tells what an exception of the action means, for doors that see it before it is mapped to a response. In a transaction, an
     * exception for which the rollback rules want a rollback marks it; where they want a commit the answer is {@code STORE}.
     */
    Disposition judge(Throwable failure);
}
