package io.idempotency.engine;

import io.idempotency.Execution;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotentOperation;
import io.idempotency.InvalidIdempotencyKeyException;
import io.idempotency.Mode;
import io.idempotency.UnknownCallerException;
import io.idempotency.engine.ValueCalls.Value;
import io.idempotency.engine.ValueCalls.ValueType;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.spi.OutcomePolicy.Disposition;
import io.idempotency.spi.ResultCodec;
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
    private final ValueCalls calls;
    private final Function<String, Mode> modes;
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
        this(engine, settings, scope, codecs, operation -> Mode.ENFORCE);
    }

    /**
     * @param settings resolves what an operation leaves open; called for every call, so it should remember
     * @param codecs the first that supports the declared type is used
     * @param modes what is done with calls of an operation now
     */
    public DefaultIdempotencyTemplate(
            IdempotencyEngine engine,
            Function<IdempotentOperation<?>, OperationSettings> settings,
            KeyScopeResolver scope,
            List<ResultCodec> codecs,
            Function<String, Mode> modes) {
        this.engine = engine;
        this.calls = new ValueCalls(engine);
        this.modes = modes;
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
        return switch (modes.apply(operation.name())) {
            case ENFORCE -> protect(operation, key, fingerprint, action);
            case OBSERVE -> observe(operation, key, fingerprint, action);
            case OFF -> new Execution<>(action.run(), false);
        };
    }

    private <T extends @Nullable Object, E extends Exception> Execution<T> observe(
            IdempotentOperation<T> operation, String key, Fingerprint fingerprint, Action<T, E> action) throws E {
        Observation observation = engine.observer().begin(operation.name(), () -> {
            codecOf(operation);
            return callOf(operation, settings.apply(operation), key, fingerprint);
        });
        T value;
        try (IdempotencyContext.Scope ignored = observation.bind()) {
            value = action.run();
        } catch (Throwable failure) {
            observation.threw(failure, Disposition.RELEASE);
            throw failure;
        }
        observation.ended(Disposition.STORE);
        return new Execution<>(value, false);
    }

    private Call callOf(
            IdempotentOperation<?> operation, OperationSettings resolved, String key, Fingerprint fingerprint) {
        return new Call(resolved, scopeOf(operation), checked(operation, key), fingerprint);
    }

    private <T extends @Nullable Object, E extends Exception> Execution<T> protect(
            IdempotentOperation<T> operation, String key, Fingerprint fingerprint, Action<T, E> action) throws E {
        OperationSettings resolved = settings.apply(operation);
        ValueType type = new ValueType(operation.resultType(), codecOf(operation), resolved.storeFailures());
        Call call = callOf(operation, resolved, key, fingerprint);
        Value<T> value = this.<T, E>unchecked(call, type, action);
        return new Execution<>(value.value(), value.replayed());
    }

    // The calls throw what the action throws, and the action declares E.
    @SuppressWarnings("unchecked")
    private <T extends @Nullable Object, E extends Exception> Value<T> unchecked(
            Call call, ValueType type, Action<T, E> action) throws E {
        try {
            return calls.execute(call, type, action);
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
}
