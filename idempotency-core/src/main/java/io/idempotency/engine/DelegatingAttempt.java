package io.idempotency.engine;

import io.idempotency.IdempotencyContext;
import io.idempotency.spi.OutcomePolicy.Disposition;
import org.jspecify.annotations.Nullable;

abstract class DelegatingAttempt implements RunningAttempt {

    private final RunningAttempt delegate;

    DelegatingAttempt(RunningAttempt delegate) {
        this.delegate = delegate;
    }

    @Override
    public @Nullable IdempotencyContext context() {
        return delegate.context();
    }

    @Override
    public IdempotencyContext.Scope bind() {
        return delegate.bind();
    }

    @Override
    public boolean transactional() {
        return delegate.transactional();
    }

    @Override
    public boolean rollbackOnly() {
        return delegate.rollbackOnly();
    }

    @Override
    public Disposition judge(Throwable failure) {
        return delegate.judge(failure);
    }

    @Override
    public Completion finish(Finish finish) {
        return delegate.finish(finish);
    }

    @Override
    public void fail(Throwable failure) {
        delegate.fail(failure);
    }
}
