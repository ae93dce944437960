package io.idempotency.boot;

import io.idempotency.Execution;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotentOperation;
import org.jspecify.annotations.Nullable;

/** A template whose operations can be switched off by {@code mode}. */
final class SwitchableTemplate implements IdempotencyTemplate {

    private final IdempotencyTemplate protecting;
    private final Operations operations;

    SwitchableTemplate(IdempotencyTemplate protecting, Operations operations) {
        this.protecting = protecting;
        this.operations = operations;
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> Execution<T> execute(
            IdempotentOperation<T> operation, String key, Action<T, E> action) throws E {
        return operations.isOff(operation.name())
                ? new Execution<>(action.run(), false)
                : protecting.execute(operation, key, action);
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> Execution<T> execute(
            IdempotentOperation<T> operation, String key, byte[] payload, Action<T, E> action) throws E {
        return operations.isOff(operation.name())
                ? new Execution<>(action.run(), false)
                : protecting.execute(operation, key, payload, action);
    }
}
