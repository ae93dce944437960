package io.idempotency.spring.aop;

import io.idempotency.engine.OperationSettings;
import io.idempotency.engine.ValueCalls.ValueType;
import io.idempotency.spi.ResultCodec;
import io.idempotency.spring.json.ResultTypes;
import io.idempotency.support.VoidResultCodec;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.ReactiveAdapterRegistry;

/**
 * Knows how results of methods are kept: by the first codec that supports the declared type.
 *
 * @since 0.1.0
 */
public final class MethodResults {

    private static final List<Class<?>> PROMISES = List.of(Future.class, Callable.class, Flow.Publisher.class);

    private static final Set<String> PUBLISHERS =
            Set.of("org.reactivestreams.Publisher", "kotlinx.coroutines.flow.Flow", "kotlinx.coroutines.Deferred");
    private static final String DECLARE_A_TYPE =
            "Declare a type that says what comes back, give a ResultCodec bean that supports it, or keep only the fact:"
                    + " @Idempotent(storeResult = Toggle.OFF).";

    private final List<ResultCodec> codecs;
    private final boolean json;

    /**
     * @param codecs the first that supports a type is used
     * @param json whether one of them writes JSON; otherwise objections say that none does
     */
    public MethodResults(List<ResultCodec> codecs, boolean json) {
        this.codecs = List.copyOf(codecs);
        this.json = json;
    }

    /**
     * Why the result of the method cannot be kept; null if it can.
     *
     * @param storeResult whether more than the fact is kept
     */
    public @Nullable Objection objectionTo(Method method, Class<?> userClass, boolean storeResult) {
        if (isSuspending(method)) {
            return new Objection(
                    "is a suspending function of Kotlin, whose end the library cannot see",
                    "Annotate a function that does not suspend and does the work, or returns a CompletableFuture of it"
                            + " (kotlinx.coroutines.future), and call it from this one.");
        }
        Class<?> raw = method.getReturnType();
        if (isStage(method)) {
            Type value = valueType(method, userClass);
            if (value == null) {
                return new Objection(
                        "returns " + raw.getSimpleName() + ", which does not say of what it is", DECLARE_A_TYPE);
            }
            return storeResult ? objectionToValue(value) : null;
        }
        if (PROMISES.stream().anyMatch(each -> each.isAssignableFrom(raw)) || isPublisher(raw)) {
            return new Objection(
                    "returns " + raw.getName() + ", which is no value but a promise of one",
                    "Return a CompletionStage or CompletableFuture of what comes (Mono.toFuture(),"
                            + " Flux.collectList().toFuture()), or the value itself.");
        }
        return storeResult ? objectionToValue(declaredType(method, userClass)) : null;
    }

    private @Nullable Objection objectionToValue(Type type) {
        if (codecOf(type) != null) {
            return null;
        }
        String objection = ResultTypes.objectionTo(type);
        if (objection != null) {
            return new Objection(
                    "returns " + type.getTypeName() + ", which cannot be kept: " + objection, DECLARE_A_TYPE);
        }
        return new Objection(
                "returns " + type.getTypeName() + ", which "
                        + (json ? "no ResultCodec supports" : "needs Jackson to be kept, and the application has none"),
                DECLARE_A_TYPE);
    }

    private static boolean isSuspending(Method method) {
        Class<?>[] types = method.getParameterTypes();
        return types.length > 0 && types[types.length - 1].getName().equals("kotlin.coroutines.Continuation");
    }

    // By name as well: without Reactor, RxJava or coroutines for Reactor, Spring has no adapter for what they return.
    private static boolean isPublisher(Class<?> type) {
        return ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null || isNamedAsPublisher(type);
    }

    private static boolean isNamedAsPublisher(@Nullable Class<?> type) {
        return type != null
                && (PUBLISHERS.contains(type.getName())
                        || isNamedAsPublisher(type.getSuperclass())
                        || Arrays.stream(type.getInterfaces()).anyMatch(MethodResults::isNamedAsPublisher));
    }

    /** Whether the result comes later. */
    static boolean isStage(Method method) {
        return method.getReturnType() == CompletionStage.class || method.getReturnType() == CompletableFuture.class;
    }

    private static Type declaredType(Method method, Class<?> userClass) {
        return GenericTypeResolver.resolveType(method.getGenericReturnType(), userClass);
    }

    private static @Nullable Type valueType(Method method, Class<?> userClass) {
        Type declared = declaredType(method, userClass);
        if (!isStage(method)) {
            return declared;
        }
        return declared instanceof ParameterizedType parameterized
                ? parameterized.getActualTypeArguments()[0]
                : null;
    }

    private @Nullable ResultCodec codecOf(Type type) {
        return codecs.stream().filter(each -> each.supports(type)).findFirst().orElse(null);
    }

    ValueType typeOf(Method method, Class<?> userClass, OperationSettings settings) {
        Type type = valueType(method, userClass);
        ResultCodec codec = type == null ? null : codecOf(type);
        return new ValueType(
                type == null ? Object.class : type,
                codec == null ? new VoidResultCodec() : codec,
                failures(method, settings));
    }

    // What the method may throw: a checked exception that it does not declare would reach its caller wrapped.
    private static List<Class<? extends Throwable>> failures(Method method, OperationSettings settings) {
        List<Class<?>> declared = List.of(method.getExceptionTypes());
        return Stream.<Class<?>>concat(settings.storeFailures().stream(), declared.stream())
                .filter(type -> RuntimeException.class.isAssignableFrom(type)
                        || Error.class.isAssignableFrom(type)
                        || isStage(method)
                        || declared.stream().anyMatch(each -> each.isAssignableFrom(type)))
                .<Class<? extends Throwable>>map(type -> type.asSubclass(Throwable.class))
                .distinct()
                .toList();
    }

    /**
     * What keeps a method from being protected.
     *
     * @param reason completes the sentence "the method …"
     * @param remedy what to do
     */
    public record Objection(String reason, String remedy) {}
}
