package io.idempotency.engine;

import io.idempotency.IdempotencyTemplate.Action;
import io.idempotency.engine.ValueCalls.ValueType;
import io.idempotency.spi.StoredResult;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs an action and keeps its value for the caller. */
final class ActionWork<T extends @Nullable Object> implements Work {

    private static final Logger log = LoggerFactory.getLogger(ActionWork.class);

    private final Action<T, ?> action;
    private final String operation;
    private final ValueType type;
    private final boolean storeResult;
    private @Nullable T value;

    ActionWork(Action<T, ?> action, String operation, ValueType type, boolean storeResult) {
        this.action = action;
        this.operation = operation;
        this.type = type;
        this.storeResult = storeResult;
    }

    @Override
    public Finish run(Attempt attempt) throws Throwable {
        return finish(action.run());
    }

    @Override
    public @Nullable StoredResult resultInAdvance() {
        return !storeResult || type.isNothing() ? stored(null) : null;
    }

    Finish finish(T result) {
        value = result;
        return new Finish.Store(stored(result), false);
    }

    // The effect has happened, so a result that cannot be written is no reason to run again: the bare fact is stored.
    private StoredResult stored(@Nullable Object result) {
        if (storeResult) {
            try {
                return StoredResult.value(type.codec().id(), type.codec().encode(result, type.type()));
            } catch (RuntimeException e) {
                log.warn(
                        "The result of operation {} cannot be written by {}; duplicates will learn only that it was done",
                        operation,
                        type.codec().id(),
                        e);
            }
        }
        return StoredResult.notReplayable("none", new byte[0]);
    }

    @SuppressWarnings("NullAway") // T itself says whether it may be null
    T value() {
        return value;
    }
}
