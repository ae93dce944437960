package io.idempotency.engine;

import io.idempotency.IdempotencyContext;
import io.idempotency.spi.OutcomePolicy.Disposition;
import org.jspecify.annotations.Nullable;

/** A run without a record, because the store could not answer and the operation proceeds then. */
final class UnprotectedAttempt implements Attempt {

    @Override
    public @Nullable IdempotencyContext context() {
        return null;
    }

    @Override
    public boolean transactional() {
        return false;
    }

    @Override
    public boolean rollbackOnly() {
        return false;
    }

    @Override
    public Disposition judge(Throwable failure) {
        return Disposition.UNDECIDED;
    }
}
