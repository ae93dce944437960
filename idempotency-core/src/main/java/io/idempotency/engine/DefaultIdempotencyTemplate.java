package io.idempotency.engine;

import io.idempotency.Execution;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotentOperation;
import io.idempotency.InvalidIdempotencyKeyException;
import io.idempotency.ResultNotReplayableException;
import io.idempotency.ResultUnreadableException;
import io.idempotency.UnknownCallerException;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.spi.ResultCodec;
import io.idempotency.spi.StoredResult;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The template on an engine: chooses the codec by the declared result type and turns stored results back into values.
 *
 * @since 0.1.0
 */
public final class DefaultIdempotencyTemplate implements IdempotencyTemplate {

    private static final String FINGERPRINT_SCHEME = "payload/1";
    private static final int LONGEST_KEY = 4096;

    private final IdempotencyEngine engine;
    private final Function<IdempotentOperation<?>, OperationSettings> settings;
    private final KeyScopeResolver scope;
    private final List<ResultCodec> codecs;

    /**
     * @param settings resolves what an operation leaves open; called for every call, so it should remember
     * @param codecs the first that supports the declared type is used
     */
    public DefaultIdempotencyTemplate(
            IdempotencyEngine engine,
            Function<IdempotentOperation<?>, OperationSettings> settings,
            KeyScopeResolver scope,
            List<ResultCodec> codecs) {
        this.engine = engine;
        this.settings = settings;
        this.scope = scope;
        this.codecs = List.copyOf(codecs);
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> Execution<T> execute(
            IdempotentOperation<T> operation, String key, Action<T, E> action) throws E {
        return execute(operation, key, Fingerprint.NONE, action);
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> Execution<T> execute(
            IdempotentOperation<T> operation, String key, byte[] payload, Action<T, E> action) throws E {
        return execute(operation, key, Fingerprint.sha256(FINGERPRINT_SCHEME, payload), action);
    }

    private <T extends @Nullable Object, E extends Exception> Execution<T> execute(
            IdempotentOperation<T> operation, String key, Fingerprint fingerprint, Action<T, E> action) throws E {
        OperationSettings resolved = settings.apply(operation);
        ResultCodec codec = codecOf(operation);
        Call call = new Call(resolved, scopeOf(operation), checked(operation, key), fingerprint);
        ActionWork<T> work = new ActionWork<>(action, operation, codec, resolved.storeResult());
        Completion completion = this.<E>unchecked(call, work);
        if (completion instanceof Completion.Replayed replayed) {
            return new Execution<>(decode(call, operation, codec, replayed.result()), true);
        }
        return new Execution<>(work.value(), false);
    }

    // The work throws what the action throws, and the action declares E.
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private <E extends Exception> Completion unchecked(Call call, Work work) throws E {
        try {
            return engine.execute(call, work);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw (E) e;
        }
    }

    private ResultCodec codecOf(IdempotentOperation<?> operation) {
        return codecs.stream()
                .filter(codec -> codec.supports(operation.resultType()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("No ResultCodec supports the result type "
                        + operation.resultType().getTypeName() + " of operation " + operation.name()));
    }

    private String scopeOf(IdempotentOperation<?> operation) {
        String resolved = scope.resolve(operation.name());
        if (resolved == null) {
            throw new UnknownCallerException("The caller of operation " + operation.name() + " is not known");
        }
        return resolved;
    }

    private static String checked(IdempotentOperation<?> operation, String key) {
        if (key.isBlank() || key.length() > LONGEST_KEY) {
            throw new InvalidIdempotencyKeyException("The key of operation " + operation.name()
                    + (key.isBlank() ? " is blank" : " is longer than " + LONGEST_KEY + " characters"));
        }
        return key;
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // T itself says whether the value may be null
    private static <T extends @Nullable Object> T decode(
            Call call, IdempotentOperation<T> operation, ResultCodec codec, StoredResult stored) {
        if (stored.kind() == StoredResult.Kind.NOT_REPLAYABLE) {
            throw new ResultNotReplayableException(
                    "Operation " + call.operation() + " (" + call.id() + ") was done before; its result was not kept");
        }
        RuntimeException failure;
        try {
            if (stored.kind() == StoredResult.Kind.VALUE) {
                if (!stored.format().equals(codec.id())) {
                    throw new IllegalArgumentException("written by the codec '" + stored.format() + "'");
                }
                return (T) codec.decode(stored.payload(), operation.resultType());
            }
            failure = FailureFormat.read(stored);
        } catch (RuntimeException e) {
            failure = new ResultUnreadableException(
                    "The result of operation " + call.operation() + " (" + call.id() + ") cannot be read as "
                            + operation.resultType().getTypeName(),
                    e);
        }
        throw failure;
    }
}
