package io.idempotency.spring.web;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.OnDuplicate;
import io.idempotency.Toggle;
import io.idempotency.engine.DefaultOutcomePolicy;
import io.idempotency.engine.OperationSettings;
import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spring.aop.ArgumentExpression;
import io.idempotency.spring.aop.Door;
import io.idempotency.spring.aop.IdempotentAnnotations;
import io.idempotency.spring.aop.IdempotentMethod;
import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.spring.aop.KeyExpression;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.MethodClassKey;

/** Reads the annotation and nothing else. */
final class TestMethods implements IdempotentMethods {

    private final Guarantee auto;
    private final Function<Method, BusinessTransactions> transactions;
    private final Map<MethodClassKey, Optional<IdempotentMethod>> methods = new ConcurrentHashMap<>();

    TestMethods(Guarantee auto, Function<Method, BusinessTransactions> transactions) {
        this.auto = auto;
        this.transactions = transactions;
    }

    static TestMethods leased() {
        return new TestMethods(Guarantee.AT_LEAST_ONCE, method -> null);
    }

    @Override
    public IdempotentMethod find(Method method, Class<?> targetClass) {
        return methods.computeIfAbsent(
                        new MethodClassKey(method, targetClass),
                        absent -> Optional.ofNullable(read(method, targetClass)))
                .orElse(null);
    }

    private IdempotentMethod read(Method method, Class<?> targetClass) {
        Method specific = IdempotentAnnotations.mostSpecific(method, targetClass);
        Idempotent onMethod = IdempotentAnnotations.onMethod(specific, targetClass);
        Idempotent annotation = onMethod == null ? IdempotentAnnotations.onType(targetClass) : onMethod;
        if (annotation == null) {
            return null;
        }
        FingerprintScheme scheme = annotation.fingerprintScheme();
        return new IdempotentMethod(
                specific,
                settings(specific, annotation),
                annotation.required() != Toggle.OFF,
                scheme == FingerprintScheme.DEFAULT ? FingerprintScheme.RAW : scheme,
                Door.HTTP,
                annotation.key().isEmpty() ? null : KeyExpression.parse(annotation.key(), specific, targetClass),
                annotation.fingerprint().isEmpty()
                        ? null
                        : ArgumentExpression.parse(annotation.fingerprint(), specific, targetClass));
    }

    private OperationSettings settings(Method method, Idempotent annotation) {
        Guarantee guarantee = annotation.guarantee() == Guarantee.AUTO ? auto : annotation.guarantee();
        String name = annotation.operation().isEmpty()
                ? method.getName().toLowerCase(java.util.Locale.ROOT)
                : annotation.operation();
        OperationSettings.Builder settings = OperationSettings.of(name, guarantee)
                .rejectDuplicates(annotation.onDuplicate() == OnDuplicate.REJECT)
                .storeResult(annotation.storeResult() != Toggle.OFF)
                .transactions(guarantee == Guarantee.EXACTLY_ONCE ? transactions.apply(method) : null)
                .outcomePolicy(new DefaultOutcomePolicy(
                        List.of(annotation.storeFailures()), List.of(annotation.releaseFailures())));
        if (!annotation.lease().isEmpty()) {
            settings.lease(DurationStyle.detectAndParse(annotation.lease()));
        }
        if (!annotation.maxExecution().isEmpty()) {
            settings.maxExecution(DurationStyle.detectAndParse(annotation.maxExecution()));
        }
        settings.proceedOnStoreFailure(name.equals("proceeding"));
        if (!annotation.retention().isEmpty()) {
            settings.retention(DurationStyle.detectAndParse(annotation.retention()));
        }
        if (!annotation.waitAtMost().isEmpty()) {
            settings.waitAtMost(DurationStyle.detectAndParse(annotation.waitAtMost()));
        }
        return settings.build();
    }
}
