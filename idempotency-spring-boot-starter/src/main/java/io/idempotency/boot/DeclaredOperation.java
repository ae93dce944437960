package io.idempotency.boot;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.IdempotentOperation;
import io.idempotency.OnDuplicate;
import io.idempotency.Toggle;
import io.idempotency.boot.IdempotencyProperties.Web.Rule;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An operation as the code declares it, by annotation or for the template. What the code leaves open is null, empty,
 * {@code AUTO} or {@code DEFAULT}.
 *
 * @param name name of the operation
 * @param place where it is declared, for messages
 * @param method the annotated method on the user's class; null for an operation of the template
 * @param targetClass class of the bean; null for an operation of the template
 */
record DeclaredOperation(
        String name,
        String place,
        @Nullable Method method,
        @Nullable Class<?> targetClass,
        Guarantee guarantee,
        @Nullable Duration lease,
        @Nullable Duration maxExecution,
        @Nullable Duration retention,
        @Nullable Duration waitAtMost,
        @Nullable Boolean required,
        FingerprintScheme fingerprintScheme,
        OnDuplicate onDuplicate,
        @Nullable Boolean storeResult,
        List<Class<? extends Throwable>> storeFailures,
        List<Class<? extends Throwable>> releaseFailures) {

    /** Whether its name was made from the class and the method. */
    boolean hasDefaultName() {
        return method != null && targetClass != null && name.equals(OperationNames.ofMethod(method, targetClass));
    }

    static DeclaredOperation of(IdempotentOperation<?> operation) {
        String place = "IdempotentOperation " + operation.name();
        return new DeclaredOperation(
                operation.name(),
                place,
                null,
                null,
                operation.guarantee(),
                checked(place, DurationSetting.LEASE, operation.lease()),
                checked(place, DurationSetting.MAX_EXECUTION, operation.maxExecution()),
                checked(place, DurationSetting.RETENTION, operation.retention()),
                checked(place, DurationSetting.WAIT_AT_MOST, operation.waitAtMost()),
                null,
                FingerprintScheme.DEFAULT,
                operation.onDuplicate(),
                operation.storeResult(),
                operation.storeFailures(),
                operation.releaseFailures());
    }

    /** What a rule makes idempotent by its path: no code says anything about it. */
    static DeclaredOperation of(Rule rule) {
        String name = Objects.requireNonNull(rule.operation());
        return new DeclaredOperation(
                name,
                "idempotency.web.rules for " + rule.path(),
                null,
                null,
                Guarantee.AUTO,
                null,
                null,
                null,
                null,
                null,
                FingerprintScheme.DEFAULT,
                OnDuplicate.DEFAULT,
                null,
                List.of(),
                List.of());
    }

    private static @Nullable Duration checked(String place, DurationSetting setting, @Nullable Duration value) {
        if (value == null) {
            return null;
        }
        String objection = setting.objectionTo(value);
        if (objection != null) {
            throw new IdempotencyConfigurationException(
                    setting.property() + " of " + place + " is '" + Durations.print(value) + "' and " + objection,
                    setting.remedy());
        }
        return value;
    }

    /** @param placeholders resolves {@code ${…}} and fails where that is not possible */
    static DeclaredOperation of(
            Idempotent annotation, Method method, Class<?> userClass, UnaryOperator<String> placeholders) {
        String place = userClass.getName() + "." + method.getName();
        AnnotationDurations durations = new AnnotationDurations(place, placeholders);
        return new DeclaredOperation(
                nameOf(annotation, method, userClass, place),
                place,
                method,
                userClass,
                annotation.guarantee(),
                durations.read(DurationSetting.LEASE, "lease", annotation.lease()),
                durations.read(DurationSetting.MAX_EXECUTION, "maxExecution", annotation.maxExecution()),
                durations.read(DurationSetting.RETENTION, "retention", annotation.retention()),
                durations.read(DurationSetting.WAIT_AT_MOST, "waitAtMost", annotation.waitAtMost()),
                booleanOf(annotation.required()),
                annotation.fingerprintScheme(),
                annotation.onDuplicate(),
                booleanOf(annotation.storeResult()),
                List.of(annotation.storeFailures()),
                List.of(annotation.releaseFailures()));
    }

    private static @Nullable Boolean booleanOf(Toggle toggle) {
        return toggle == Toggle.DEFAULT ? null : toggle == Toggle.ON;
    }

    private static String nameOf(Idempotent annotation, Method method, Class<?> userClass, String place) {
        if (annotation.operation().isEmpty()) {
            String name = OperationNames.ofMethod(method, userClass);
            if (!OperationNames.isValid(name)) {
                throw new IdempotencyConfigurationException(
                        "No name for the operation can be made of " + place + ": '" + name
                                + "' has more than a-z, 0-9 and hyphens",
                        "Give it a name: @Idempotent(operation = \"…\").");
            }
            return name;
        }
        if (!OperationNames.isValid(annotation.operation())) {
            throw new IdempotencyConfigurationException(
                    "@Idempotent(operation = \"" + annotation.operation() + "\") on " + place
                            + " is not the name of an operation",
                    "Names consist of a-z, 0-9 and hyphens, 190 at most.");
        }
        return annotation.operation();
    }

    private record AnnotationDurations(String place, UnaryOperator<String> placeholders) {

        @Nullable
        Duration read(DurationSetting setting, String attribute, String text) {
            if (text.isEmpty()) {
                return null;
            }
            String resolved = resolve(attribute, text);
            String objection;
            String remedy;
            try {
                Duration value = Durations.parse(resolved);
                objection = setting.objectionTo(value);
                if (objection == null) {
                    return value;
                }
                remedy = setting.remedy();
            } catch (IllegalArgumentException e) {
                objection = String.valueOf(e.getMessage());
                remedy = Durations.remedy(resolved);
            }
            throw new IdempotencyConfigurationException(
                    attribute + " = \"" + text + "\"" + (text.equals(resolved) ? "" : " (" + resolved + ")")
                            + " of @Idempotent on " + place + " " + objection,
                    remedy);
        }

        private String resolve(String attribute, String text) {
            try {
                return placeholders.apply(text);
            } catch (IllegalArgumentException e) {
                throw new IdempotencyConfigurationException(
                        attribute + " = \"" + text + "\" of @Idempotent on " + place + " cannot be resolved",
                        "Set the property that it names, or give a default: ${name:30s}.",
                        e);
            }
        }
    }
}
