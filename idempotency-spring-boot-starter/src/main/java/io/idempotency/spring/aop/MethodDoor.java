package io.idempotency.spring.aop;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyTemplate.Action;
import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.Mode;
import io.idempotency.ResultNotReplayableException;
import io.idempotency.UnknownCallerException;
import io.idempotency.engine.Call;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.Observation;
import io.idempotency.engine.Observer;
import io.idempotency.engine.ValueCalls;
import io.idempotency.engine.ValueCalls.Value;
import io.idempotency.engine.ValueCalls.ValueType;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.spi.OutcomePolicy.Disposition;
import io.idempotency.spring.json.JsonValues;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.MethodClassKey;

/**
 * Translates calls of annotated bean methods for the engine: arguments into key, scope and fingerprint, the stored result into what
 * the method is declared to return or throw. Methods whose door is HTTP pass.
 *
 * @since 0.1.0
 */
public final class MethodDoor implements MethodInterceptor {

    private final IdempotentMethods methods;
    private final Function<String, Mode> modes;
    private final Observer observer;
    private final ValueCalls calls;
    private final MethodResults results;
    private final KeyScopeResolver scope;
    private final @Nullable JsonValues json;
    private final List<AmbientKey.Source> ambientKeys;
    private final List<Listener.Kind> listeners;
    private final Map<MethodClassKey, Optional<Plan>> plans = new ConcurrentHashMap<>();

    /**
     * @param modes what is done with calls of an operation now
     * @param json writes arguments so that they can be compared; null for no comparison
     * @param ambientKeys asked in this order for the key of a method that names none
     * @param listeners recognise methods that are called by listener containers
     */
    public MethodDoor(
            IdempotencyEngine engine,
            IdempotentMethods methods,
            Function<String, Mode> modes,
            MethodResults results,
            KeyScopeResolver scope,
            @Nullable JsonValues json,
            List<AmbientKey.Source> ambientKeys,
            List<Listener.Kind> listeners) {
        this.calls = new ValueCalls(engine);
        this.observer = engine.observer();
        this.methods = methods;
        this.modes = modes;
        this.results = results;
        this.scope = scope;
        this.json = json;
        this.ambientKeys = List.copyOf(ambientKeys);
        this.listeners = List.copyOf(listeners);
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Plan plan = target == null ? null : planOf(invocation, target.getClass());
        return plan == null ? invocation.proceed() : plan.call(invocation);
    }

    private @Nullable Plan planOf(MethodInvocation invocation, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(invocation.getMethod(), targetClass);
        Optional<Plan> known = plans.get(key);
        if (known == null) {
            known = Optional.ofNullable(methods.find(invocation.getMethod(), targetClass))
                    .filter(method -> method.door() == Door.METHOD)
                    .map(method -> new Plan(method, targetClass));
            plans.put(key, known);
        }
        return known.orElse(null);
    }

    /** One method, ready to be called. */
    private final class Plan {

        private final IdempotentMethod method;
        private final ValueType type;
        private final ArgumentsFingerprint fingerprint;
        private final @Nullable Listener listener;
        private final boolean async;

        private Plan(IdempotentMethod method, Class<?> targetClass) {
            this.method = method;
            this.type = results.typeOf(method.method(), targetClass, method.settings());
            this.fingerprint = new ArgumentsFingerprint(method, json);
            this.listener = listeners.stream()
                    .map(kind -> kind.of(method.method(), targetClass))
                    .filter(found -> found != null)
                    .findFirst()
                    .orElse(null);
            this.async = MethodResults.isStage(method.method());
        }

        @Nullable
        Object call(MethodInvocation invocation) throws Throwable {
            return switch (modes.apply(method.settings().operation())) {
                case ENFORCE -> protect(invocation);
                case OBSERVE -> observe(invocation);
                case OFF -> invocation.proceed();
            };
        }

        private @Nullable Object observe(MethodInvocation invocation) throws Throwable {
            AtomicReference<@Nullable AmbientKey> message = new AtomicReference<>();
            Observation observation = observer.begin(
                    method.settings().operation(), () -> callOf(invocation.getArguments(), message::set));
            // What the method calls may be protected and take the key of the message.
            AmbientKey inside = listener == null ? AmbientKey.bound() : message.get();
            Object value;
            try (IdempotencyContext.Scope ignored = observation.bind();
                    IdempotencyContext.Scope ambient = AmbientKey.bind(inside)) {
                value = invocation.proceed();
            } catch (Throwable failure) {
                observation.threw(failure, Disposition.RELEASE);
                throw failure;
            }
            if (async && value instanceof CompletionStage<?> stage) {
                stage.whenComplete((result, failure) -> end(observation, failure));
            } else {
                observation.ended(Disposition.STORE);
            }
            return value;
        }

        private @Nullable Call callOf(@Nullable Object[] arguments, Consumer<AmbientKey> ofMessage) {
            Listener.Delivery delivery = listener == null ? null : listener.deliver(arguments);
            AmbientKey key = keyOf(arguments, delivery);
            if (key == null) {
                return null;
            }
            if (delivery != null) {
                ofMessage.accept(key);
            }
            return callOf(key, arguments, delivery);
        }

        private Call callOf(AmbientKey key, @Nullable Object[] arguments, Listener.@Nullable Delivery delivery) {
            return new Call(method.settings(), scopeOf(key), key.key(), fingerprint.of(arguments, delivery));
        }

        private static void end(Observation observation, @Nullable Throwable failure) {
            if (failure == null) {
                observation.ended(Disposition.STORE);
            } else {
                observation.threw(causeOf(failure), Disposition.RELEASE);
            }
        }

        private static Throwable causeOf(Throwable failure) {
            Throwable cause = failure.getCause();
            return failure instanceof CompletionException && cause != null ? cause : failure;
        }

        private @Nullable Object protect(MethodInvocation invocation) throws Throwable {
            Run run = new Run(invocation);
            if (listener == null) {
                return call(run, null);
            }
            Listener.Delivery delivery = listener.deliver(invocation.getArguments());
            try {
                return call(run, delivery);
            } catch (IdempotencyException refusal) {
                if (refusal == run.thrown) {
                    throw refusal;
                }
                if (refusal instanceof ResultNotReplayableException) {
                    return done(delivery);
                }
                throw delivery.refused(refusal);
            }
        }

        // Nobody waits for the result of a message that was done before.
        private static @Nullable Object done(Listener.Delivery delivery) {
            delivery.settled(true);
            return null;
        }

        private @Nullable Object call(Run run, Listener.@Nullable Delivery delivery) throws Throwable {
            @Nullable Object[] arguments = run.invocation.getArguments();
            AmbientKey key = keyOf(arguments, delivery);
            if (key == null) {
                return run.proceed(AmbientKey.bound());
            }
            Call call = callOf(key, arguments, delivery);
            if (delivery != null && run.invocation instanceof ProxyMethodInvocation proxied) {
                proxied.setArguments(delivery.arguments());
            }
            // What the method calls may have no key of its own and take that of the message.
            AmbientKey inside = delivery == null ? AmbientKey.bound() : key;
            if (async) {
                CompletableFuture<Value<@Nullable Object>> value =
                        calls.<@Nullable Object>executeAsync(call, type, stage(run, inside));
                return delivery == null ? value.thenApply(Value::value) : settledLater(delivery, value, run);
            }
            return settled(delivery, calls.execute(call, type, action(run, inside)));
        }

        private static CompletableFuture<@Nullable Object> settledLater(
                Listener.Delivery delivery, CompletableFuture<Value<@Nullable Object>> value, Run run) {
            return value.handle((done, failure) -> {
                if (failure == null) {
                    return settled(delivery, done);
                }
                Throwable cause = causeOf(failure);
                if (cause instanceof ResultNotReplayableException && !run.begun) {
                    return done(delivery);
                }
                throw failure instanceof CompletionException known ? known : new CompletionException(failure);
            });
        }

        private static @Nullable Object settled(Listener.@Nullable Delivery delivery, Value<@Nullable Object> value) {
            if (delivery != null) {
                delivery.settled(value.replayed());
            }
            return value.value();
        }

        private @Nullable AmbientKey keyOf(@Nullable Object[] arguments, Listener.@Nullable Delivery delivery) {
            String messageScope = delivery == null ? "" : delivery.scope();
            if (method.key() != null) {
                String key = method.keyRequired()
                        ? method.key().require(arguments)
                        : method.key().keyOf(arguments);
                return key == null ? null : new AmbientKey(key, messageScope);
            }
            AmbientKey ambient = delivery == null ? ambient() : ofMessage(delivery, messageScope);
            if (ambient == null && method.keyRequired()) {
                throw new MissingIdempotencyKeyException(
                        "Operation " + method.settings().operation()
                                + " requires a key: it names none, and neither a message nor a request brings one");
            }
            return ambient;
        }

        private @Nullable AmbientKey ofMessage(Listener.Delivery delivery, String messageScope) {
            String key = delivery.key();
            return key == null || key.isBlank() ? null : new AmbientKey(key, messageScope);
        }

        private @Nullable AmbientKey ambient() {
            AmbientKey bound = AmbientKey.bound();
            if (bound != null) {
                return bound;
            }
            for (AmbientKey.Source source : ambientKeys) {
                AmbientKey found = source.current(method.settings().operation());
                if (found != null) {
                    return found;
                }
            }
            return null;
        }

        private String scopeOf(AmbientKey key) {
            String tenant = scope.resolve(method.settings().operation());
            if (tenant == null) {
                throw new UnknownCallerException(
                        "The caller of operation " + method.settings().operation() + " is not known");
            }
            return key.scope().isEmpty() ? tenant : tenant.length() + ":" + tenant + key.scope();
        }

        @SuppressWarnings("NullAway") // The type says that it may be null.
        private static Action<@Nullable Object, ?> action(Run run, @Nullable AmbientKey inside) {
            return () -> run.proceed(inside);
        }

        @SuppressWarnings({"unchecked", "NullAway"}) // The type says that the value may be null.
        private Action<CompletionStage<@Nullable Object>, ?> stage(Run run, @Nullable AmbientKey inside) {
            return () -> {
                Object stage = run.proceed(inside);
                if (stage == null) {
                    throw new IllegalStateException(
                            "Operation " + method.settings().operation() + " has returned null in place of a stage");
                }
                return (CompletionStage<@Nullable Object>) stage;
            };
        }
    }

    /** Tells what the method has thrown from what the library says of the call: calls inside of the method are refused as well. */
    private static final class Run {

        private final MethodInvocation invocation;
        private volatile boolean begun;
        private volatile @Nullable Throwable thrown;

        private Run(MethodInvocation invocation) {
            this.invocation = invocation;
        }

        private @Nullable Object proceed(@Nullable AmbientKey inside) throws Exception {
            begun = true;
            try (IdempotencyContext.Scope ignored = AmbientKey.bind(inside)) {
                return invocation.proceed();
            } catch (Throwable e) {
                thrown = e;
                throw MethodDoor.<Exception>unchanged(e);
            }
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> E unchanged(Throwable failure) throws E {
        throw (E) failure;
    }
}
