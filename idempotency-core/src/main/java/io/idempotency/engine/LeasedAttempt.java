package io.idempotency.engine;

import io.idempotency.IdempotencyContext;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.OutcomePolicy.Disposition;
import java.util.concurrent.atomic.AtomicBoolean;

final class LeasedAttempt implements RunningAttempt {

    private final Call call;
    private final Lease lease;
    private final LeasedRecord record;
    private final RunningCalls running;
    private final Runnable onEnd;
    private final AttemptContext context;
    private final LeaseRenewal renewal;
    private final AtomicBoolean ending = new AtomicBoolean();
    private volatile boolean lost;

    LeasedAttempt(
            Call call,
            ClaimResult.Claimed claimed,
            LeasedRecord record,
            RunningCalls running,
            Steps steps,
            Runnable onEnd) {
        this.call = call;
        this.lease = claimed.lease();
        this.record = record;
        this.running = running;
        this.onEnd = onEnd;
        this.context = new AttemptContext(call, lease, claimed.takeover(), () -> lost, steps);
        this.renewal = record.renewal(lease, call.settings().maxExecution(), this::lost);
        renewal.start();
    }

    // A renewal that meets our own completion finds the record done: that is no loss.
    private void lost() {
        if (!ending.get()) {
            lost = true;
            record.lost(call);
        }
    }

    @Override
    public IdempotencyContext context() {
        return context;
    }

    @Override
    public IdempotencyContext.Scope bind() {
        return running.bind(call, this);
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
        return call.settings().outcomePolicy().onThrow(failure, call.settings().guarantee());
    }

    @Override
    public Completion finish(Finish finish) {
        begin();
        try {
            if (finish instanceof Finish.Store store) {
                return record.store(call, lease, store.result(), lost);
            }
            if (finish instanceof Finish.Release) {
                record.releaseQuietly(call, lease);
            }
            return new Completion.Executed(false, false);
        } finally {
            end();
        }
    }

    @Override
    public void fail(Throwable failure) {
        begin();
        try {
            Disposition disposition = judge(failure);
            if (disposition == Disposition.STORE) {
                record.store(call, lease, FailureFormat.write(failure), lost);
            } else if (disposition != Disposition.HOLD) {
                record.release(call, lease);
            }
        } catch (RuntimeException ours) {
            if (ours != failure) {
                failure.addSuppressed(ours);
            }
        } finally {
            end();
        }
    }

    private void begin() {
        if (!ending.compareAndSet(false, true)) {
            throw new IllegalStateException("This attempt of operation " + call.operation() + " has ended before");
        }
    }

    // The renewal goes on until the last write has returned: a slow one must not lose the key that it completes.
    private void end() {
        renewal.stop();
        onEnd.run();
    }
}
