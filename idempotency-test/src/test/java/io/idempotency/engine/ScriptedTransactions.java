package io.idempotency.engine;

import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spi.CommitFailedException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Transactions without a database: what happens to them is written into the list of calls. */
final class ScriptedTransactions implements BusinessTransactions, BusinessTransactions.Handle {

    private final List<String> calls;
    boolean open;
    boolean readOnly;
    boolean rollbackOnly;

    @Nullable
    Class<? extends Throwable> commitsOn;

    @Nullable
    CommitFailedException commitFails;

    @Nullable
    RuntimeException beginFails;

    @Nullable
    String outside;

    ScriptedTransactions(List<String> calls) {
        this.calls = calls;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean isOpenReadOnly() {
        return readOnly;
    }

    @Override
    public boolean serializable() {
        return false;
    }

    @Override
    public boolean rollsBackOn(Throwable failure) {
        return commitsOn == null || !commitsOn.isInstance(failure);
    }

    @Override
    public Handle open() {
        return this;
    }

    @Override
    public <R extends @Nullable Object> R inNew(Work<R> work) throws Throwable {
        calls.add("begin");
        if (beginFails != null) {
            throw beginFails;
        }
        rollbackOnly = false;
        R result;
        try {
            result = work.run(this);
        } catch (Throwable failure) {
            calls.add("rollback");
            throw failure;
        }
        calls.add(rollbackOnly ? "rollback" : "commit");
        if (!rollbackOnly && commitFails != null) {
            throw commitFails;
        }
        return result;
    }

    @Override
    public boolean isRollbackOnly() {
        return rollbackOnly;
    }

    @Override
    public void setRollbackOnly() {
        rollbackOnly = true;
    }

    @Override
    public @Nullable String workOutside() {
        return outside;
    }
}
