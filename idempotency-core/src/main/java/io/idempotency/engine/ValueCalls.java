package io.idempotency.engine;

import io.idempotency.IdempotencyTemplate.Action;
import io.idempotency.ReplayedFailureException;
import io.idempotency.ResultNotReplayableException;
import io.idempotency.ResultUnreadableException;
import io.idempotency.spi.ResultCodec;
import io.idempotency.spi.StoredResult;
import java.lang.reflect.Type;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Calls that have a value: writes it by a codec, and turns what is stored back into a value or an exception. Doors that know
 * methods use it.
 *
 * @since 0.1.0
 */
public final class ValueCalls {

    private final IdempotencyEngine engine;

    public ValueCalls(IdempotencyEngine engine) {
        this.engine = engine;
    }

    /**
     * Runs the action, or gives the first value of the same key.
     *
     * @throws io.idempotency.IdempotencyException if the call is refused
     * @throws IllegalStateException if the action has returned from a transaction that was marked for rollback
     * @throws Throwable what the action throws; on a replay, the stored failure
     */
    public <T extends @Nullable Object> Value<T> execute(Call call, ValueType type, Action<T, ?> action)
            throws Throwable {
        ActionWork<T> work = new ActionWork<>(action, call.operation(), type, type.isKept(call.settings()));
        Completion completion = engine.execute(call, work);
        if (completion instanceof Completion.Replayed replayed) {
            return new Value<>(ValueCalls.<T>decode(call, type, replayed.result()), true);
        }
        if (completion instanceof Completion.Executed executed && executed.rolledBack()) {
            throw new IllegalStateException("Operation " + call.operation()
                    + " has returned, but its transaction was marked for rollback: nothing of what it did is there."
                    + " Throw an exception where the work is to be undone");
        }
        return new Value<>(work.value(), false);
    }

    /**
     * Like {@link #execute}, for an action whose value comes later. Only for the leased guarantees. The claim is made and the action
     * begun on the calling thread, which gets refusals and what the action throws; the result is stored by the thread that
     * completes the stage.
     *
     * @return completes when the result has been stored, with the value, or with the failure
     */
    public <T extends @Nullable Object> CompletableFuture<Value<T>> executeAsync(
            Call call, ValueType type, Action<? extends CompletionStage<T>, ?> action) throws Throwable {
        ActionWork<T> work = new ActionWork<>(
                () -> {
                    throw new IllegalStateException("The value comes later");
                },
                call.operation(),
                type,
                type.isKept(call.settings()));
        return engine.executeAsync(call, attempt -> action.run().thenApply(work::finish))
                .thenApply(completion -> completion instanceof Completion.Replayed replayed
                        ? new Value<>(ValueCalls.<T>decodeLater(call, type, replayed.result()), true)
                        : new Value<>(work.value(), false));
    }

    private static <T extends @Nullable Object> T decodeLater(Call call, ValueType type, StoredResult stored) {
        try {
            return decode(call, type, stored);
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable failure) {
            throw new CompletionException(failure);
        }
    }

    @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"}) // T says whether the value may be null
    static <T extends @Nullable Object> T decode(Call call, ValueType type, StoredResult stored) throws Throwable {
        if (stored.kind() == StoredResult.Kind.NOT_REPLAYABLE) {
            throw new ResultNotReplayableException(
                    "Operation " + call.operation() + " (" + call.id() + ") was done before; its result was not kept");
        }
        ReplayedFailureException failure;
        try {
            if (stored.kind() == StoredResult.Kind.VALUE) {
                if (!stored.format().equals(type.codec().id())) {
                    throw new IllegalArgumentException("written by the codec '" + stored.format() + "'");
                }
                return (T) type.codec().decode(stored.payload(), type.type());
            }
            failure = FailureFormat.read(stored);
        } catch (RuntimeException e) {
            throw new ResultUnreadableException(
                    "The result of operation " + call.operation() + " (" + call.id() + ") cannot be read as "
                            + type.type().getTypeName(),
                    e);
        }
        throw FailureFormat.rebuilt(failure, type.failures());
    }

    /**
     * What a value is declared as.
     *
     * @param codec writes and reads it
     * @param failures exceptions that may be stored in place of it; a stored one that is exactly of one of these types is thrown as
     *     such on a replay
     */
    public record ValueType(Type type, ResultCodec codec, List<Class<? extends Throwable>> failures) {

        public ValueType {
            failures = List.copyOf(failures);
        }

        // Of a method that returns nothing, the fact is the result.
        boolean isKept(OperationSettings settings) {
            return settings.storeResult() || isNothing();
        }

        boolean isNothing() {
            return type == void.class || type == Void.class;
        }
    }

    /**
     * What a call came to.
     *
     * @param replayed whether it is the first result of the key
     */
    public record Value<T extends @Nullable Object>(T value, boolean replayed) {}
}
