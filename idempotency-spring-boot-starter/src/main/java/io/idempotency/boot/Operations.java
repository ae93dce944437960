package io.idempotency.boot;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.IdempotentOperation;
import io.idempotency.Mode;
import io.idempotency.OnDuplicate;
import io.idempotency.boot.IdempotencyProperties.OnStoreFailure;
import io.idempotency.boot.IdempotencyProperties.Operation;
import io.idempotency.engine.DefaultOutcomePolicy;
import io.idempotency.engine.OperationSettings;
import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.OutcomePolicy;
import io.idempotency.spring.aop.Door;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/** Works out how operations are run: property over code over global property, and the guarantee that can hold. */
final class Operations {

    // By name: few applications have it. That of Spring 7 retries outside of the library.
    private static final String RETRYABLE = "org.springframework.retry.annotation.Retryable";

    private static final Operation NOTHING =
            new Operation(null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);

    private final IdempotencyProperties properties;
    private final IdempotencyStore store;
    private final @Nullable ExactlyOnce exactlyOnce;
    private final @Nullable OutcomePolicy userPolicy;
    private final Map<IdempotentOperation<?>, OperationSettings> ofTemplate = new ConcurrentHashMap<>();

    /**
     * @param exactlyOnce null if the store has no transactions
     * @param userPolicy a policy of the application; null for the stock one
     */
    Operations(
            IdempotencyProperties properties,
            IdempotencyStore store,
            @Nullable ExactlyOnce exactlyOnce,
            @Nullable OutcomePolicy userPolicy) {
        this.properties = properties;
        this.store = store;
        this.exactlyOnce = exactlyOnce;
        this.userPolicy = userPolicy;
    }

    /** How an operation of the template is run. Remembered, because it is asked for every call. */
    OperationSettings of(IdempotentOperation<?> operation) {
        OperationSettings known = ofTemplate.get(operation);
        if (known == null) {
            known = resolve(DeclaredOperation.of(operation), Door.METHOD).settings();
            ofTemplate.put(operation, known);
        }
        return known;
    }

    /** The mode of the operation as long as nobody switches it. */
    Mode modeAtStart(String operation) {
        return first(configured(operation).mode(), null, properties.mode());
    }

    /** The mode of operations that have none of their own. */
    Mode modeAtStart() {
        return properties.mode();
    }

    /** Whether the operation does not have the mode of the others. */
    boolean hasModeOfItsOwn(String operation) {
        return configured(operation).mode() != null;
    }

    /** @param door decides what holds where nothing is said about keys and payloads */
    ResolvedOperation resolve(DeclaredOperation declared, Door door) {
        Operation configured = configured(declared.name());
        Choice choice = choose(declared, configured);
        Duration lease = first(configured.lease(), declared.lease(), properties.lease());
        Duration maxExecution = first(configured.maxExecution(), declared.maxExecution(), properties.maxExecution());
        Duration retention = first(configured.retention(), declared.retention(), properties.retention());
        OperationSettings settings = OperationSettings.of(declared.name(), choice.guarantee)
                .lease(lease)
                .maxExecution(maxExecution)
                .retention(retention)
                .waitAtMost(first(configured.waitAtMost(), declared.waitAtMost(), properties.waitAtMost()))
                .rejectDuplicates(OnDuplicate.REJECT
                        == first(
                                unlessDefault(configured.onDuplicate()),
                                unlessDefault(declared.onDuplicate()),
                                OnDuplicate.REPLAY))
                .storeResult(first(configured.storeResult(), declared.storeResult(), properties.storeResult()))
                .proceedOnStoreFailure(
                        OnStoreFailure.PROCEED == first(configured.onStoreFailure(), null, properties.onStoreFailure()))
                .storeFailures(first(configured.storeFailures(), null, declared.storeFailures()))
                .outcomePolicy(policy(
                        first(configured.storeFailures(), null, declared.storeFailures()),
                        first(configured.releaseFailures(), null, declared.releaseFailures())))
                .transactions(choice.transactions)
                .failOnWorkOutside(choice.explicit && choice.guarantee == Guarantee.EXACTLY_ONCE)
                .build();
        return new ResolvedOperation(
                settings,
                store.name(),
                declared.place(),
                choice.objection,
                modeAtStart(declared.name()),
                first(
                        configured.required(),
                        declared.required(),
                        door != Door.HTTP || properties.web().required()),
                first(
                        unlessDefault(configured.fingerprintScheme()),
                        unlessDefault(declared.fingerprintScheme()),
                        door == Door.HTTP ? properties.web().fingerprintScheme() : FingerprintScheme.JSON));
    }

    private static <T> T first(@Nullable T configured, @Nullable T declared, T global) {
        return configured != null ? configured : declared != null ? declared : global;
    }

    private static @Nullable OnDuplicate unlessDefault(@Nullable OnDuplicate value) {
        return value == OnDuplicate.DEFAULT ? null : value;
    }

    private static @Nullable FingerprintScheme unlessDefault(@Nullable FingerprintScheme value) {
        return value == FingerprintScheme.DEFAULT ? null : value;
    }

    private OutcomePolicy policy(
            List<Class<? extends Throwable>> storeFailures, List<Class<? extends Throwable>> releaseFailures) {
        OutcomePolicy stock = new DefaultOutcomePolicy(storeFailures, releaseFailures);
        OutcomePolicy own = userPolicy;
        if (own == null) {
            return stock;
        }
        List<Class<? extends Throwable>> named =
                Stream.concat(storeFailures.stream(), releaseFailures.stream()).toList();
        return (failure, guarantee) -> named.stream().anyMatch(type -> type.isInstance(failure))
                ? stock.onThrow(failure, guarantee)
                : own.onThrow(failure, guarantee);
    }

    private Operation configured(String name) {
        Operation exact = properties.operations().get(name);
        return exact != null
                ? exact
                : properties.operations().entrySet().stream()
                        .filter(entry -> OperationNames.addresses(entry.getKey(), name))
                        .map(Map.Entry::getValue)
                        .findFirst()
                        .orElse(NOTHING);
    }

    /** Fails if a property is meant for an operation that does not exist. */
    void checkConfiguredNames(Collection<String> known) {
        for (String key : new TreeSet<>(properties.operations().keySet())) {
            if (known.contains(key)) {
                continue;
            }
            List<String> addressed = known.stream()
                    .filter(name -> OperationNames.addresses(key, name))
                    .sorted()
                    .toList();
            if (addressed.isEmpty()) {
                throw new IdempotencyConfigurationException(
                        IdempotencyProperties.OPERATIONS + key + " names no operation. Known operations: "
                                + (known.isEmpty() ? "none" : String.join(", ", new TreeSet<>(known))),
                        "Correct the name or remove the property. An operation of IdempotencyTemplate is known at start if it is a"
                                + " bean of type IdempotentOperation.");
            }
            if (addressed.size() > 1) {
                throw new IdempotencyConfigurationException(
                        IdempotencyProperties.OPERATIONS + key + " may mean each of " + String.join(", ", addressed),
                        "Write the name with its hyphens, or rename one of the operations.");
            }
        }
    }

    private Choice choose(DeclaredOperation declared, Operation configured) {
        Guarantee wanted =
                first(unlessAuto(configured.guarantee()), unlessAuto(declared.guarantee()), properties.guarantee());
        if (wanted == Guarantee.AUTO || wanted == Guarantee.EXACTLY_ONCE) {
            ExactlyOnce.Answer answer = exactlyOnce(declared, configured);
            if (answer instanceof ExactlyOnce.Answer.Possible possible) {
                return new Choice(Guarantee.EXACTLY_ONCE, wanted != Guarantee.AUTO, possible.transactions(), null);
            }
            String reason = ((ExactlyOnce.Answer.Impossible) answer).reason();
            if (wanted == Guarantee.EXACTLY_ONCE) {
                throw new IdempotencyConfigurationException(
                        "EXACTLY_ONCE cannot hold for operation " + declared.name() + ": " + reason
                                + ". It is asked for by " + source(declared, configured),
                        "Remove the reason, or choose AT_LEAST_ONCE (a second run is possible after a crash) or AT_MOST_ONCE.");
            }
            checkMinimum(declared, reason);
            return new Choice(Guarantee.AT_LEAST_ONCE, false, null, reason);
        }
        return new Choice(wanted, true, null, null);
    }

    private static @Nullable Guarantee unlessAuto(@Nullable Guarantee guarantee) {
        return guarantee == Guarantee.AUTO ? null : guarantee;
    }

    private String source(DeclaredOperation declared, Operation configured) {
        if (unlessAuto(configured.guarantee()) != null) {
            return IdempotencyProperties.OPERATIONS + declared.name() + ".guarantee";
        }
        return unlessAuto(declared.guarantee()) != null ? declared.place() : "idempotency.guarantee";
    }

    private void checkMinimum(DeclaredOperation declared, String reason) {
        Guarantee minimum = properties.minimumGuarantee();
        if (minimum == Guarantee.EXACTLY_ONCE || minimum == Guarantee.AT_MOST_ONCE) {
            throw new IdempotencyConfigurationException(
                    "idempotency.minimum-guarantee is '" + minimum + "', and operation " + declared.name()
                            + " would be AT_LEAST_ONCE: " + reason,
                    "Remove the reason, choose the guarantee of this operation explicitly, or lower the minimum.");
        }
    }

    private ExactlyOnce.Answer exactlyOnce(DeclaredOperation declared, Operation configured) {
        Method method = declared.method();
        if (method != null && AsyncReturnTypes.isReturnedBy(method)) {
            return new ExactlyOnce.Answer.Impossible(declared.place() + " returns "
                    + method.getReturnType().getSimpleName() + ", whose work ends after its transaction");
        }
        if (method != null && isRetriedInside(method, declared.targetClass())) {
            return new ExactlyOnce.Answer.Impossible(
                    declared.place() + " is @Retryable by Spring Retry, which tries again inside of the"
                            + " transaction that the first failure has doomed");
        }
        if (exactlyOnce == null) {
            return new ExactlyOnce.Answer.Impossible(
                    "the store " + store.name() + " has no part in the application's transactions");
        }
        return exactlyOnce.of(method, declared.targetClass(), configured.isolation(), configured.timeout());
    }

    private static boolean isRetriedInside(Method method, @Nullable Class<?> targetClass) {
        return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(RETRYABLE)
                || targetClass != null
                        && MergedAnnotations.from(targetClass, SearchStrategy.TYPE_HIERARCHY)
                                .isPresent(RETRYABLE);
    }

    private record Choice(
            Guarantee guarantee,
            boolean explicit,
            @Nullable BusinessTransactions transactions,
            @Nullable String objection) {

        private Choice {
            Objects.requireNonNull(guarantee);
        }
    }
}
