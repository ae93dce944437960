package io.idempotency;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A named operation for {@link IdempotencyTemplate}. What is left {@code null} falls through to the configuration.
 *
 * @param name {@code [a-z0-9-]+}; operations of the same name share their records
 * @param resultType declared type of the result, by which its codec is chosen
 * @param guarantee what holds when the process crashes
 * @param lease how long a vanished owner blocks its key
 * @param maxExecution how long the lease of a running action is renewed
 * @param retention how long a result is kept, counted from its completion
 * @param waitAtMost how long a duplicate waits for the first call
 * @param onDuplicate what the duplicate of a finished call gets
 * @param storeResult whether the result is kept, or only the fact
 * @param storeFailures exceptions that are a final result
 * @param releaseFailures exceptions that prove that nothing happened
 * @since 0.1.0
 */
public record IdempotentOperation<T extends @Nullable Object>(
        String name,
        Type resultType,
        Guarantee guarantee,
        @Nullable Duration lease,
        @Nullable Duration maxExecution,
        @Nullable Duration retention,
        @Nullable Duration waitAtMost,
        OnDuplicate onDuplicate,
        @Nullable Boolean storeResult,
        List<Class<? extends Throwable>> storeFailures,
        List<Class<? extends Throwable>> releaseFailures) {

    private static final Pattern NAME = Pattern.compile("[a-z0-9-]{1,190}");

    public IdempotentOperation {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "The name of an operation consists of a-z, 0-9 and hyphens, 190 at most: '" + name + "'");
        }
        storeFailures = List.copyOf(Set.copyOf(storeFailures));
        releaseFailures = List.copyOf(Set.copyOf(releaseFailures));
    }

    /** An operation with a result of the given class. */
    public static <T> Builder<T> named(String name, Class<T> resultType) {
        return new Builder<>(name, resultType);
    }

    /**
     * An operation with a result of a generic type, for example {@code List<Order>}.
     *
     * @param resultType as the Reflection API describes it
     */
    public static <T extends @Nullable Object> Builder<T> typed(String name, Type resultType) {
        return new Builder<>(name, resultType);
    }

    /** An operation without a result: its action returns {@code null}. */
    public static Builder<@Nullable Void> named(String name) {
        return new Builder<>(name, void.class);
    }

    /** Collects the settings of an operation. */
    public static final class Builder<T extends @Nullable Object> {

        private final String name;
        private final Type resultType;
        private Guarantee guarantee = Guarantee.AUTO;
        private @Nullable Duration lease;
        private @Nullable Duration maxExecution;
        private @Nullable Duration retention;
        private @Nullable Duration waitAtMost;
        private OnDuplicate onDuplicate = OnDuplicate.DEFAULT;
        private @Nullable Boolean storeResult;
        private List<Class<? extends Throwable>> storeFailures = List.of();
        private List<Class<? extends Throwable>> releaseFailures = List.of();

        private Builder(String name, Type resultType) {
            this.name = name;
            this.resultType = resultType;
        }

        public Builder<T> guarantee(Guarantee guarantee) {
            this.guarantee = guarantee;
            return this;
        }

        public Builder<T> lease(Duration lease) {
            this.lease = lease;
            return this;
        }

        public Builder<T> maxExecution(Duration maxExecution) {
            this.maxExecution = maxExecution;
            return this;
        }

        public Builder<T> retention(Duration retention) {
            this.retention = retention;
            return this;
        }

        public Builder<T> waitAtMost(Duration waitAtMost) {
            this.waitAtMost = waitAtMost;
            return this;
        }

        public Builder<T> onDuplicate(OnDuplicate onDuplicate) {
            this.onDuplicate = onDuplicate;
            return this;
        }

        public Builder<T> storeResult(boolean storeResult) {
            this.storeResult = storeResult;
            return this;
        }

        @SafeVarargs
        public final Builder<T> storeFailures(Class<? extends Throwable>... failures) {
            this.storeFailures = List.of(failures);
            return this;
        }

        @SafeVarargs
        public final Builder<T> releaseFailures(Class<? extends Throwable>... failures) {
            this.releaseFailures = List.of(failures);
            return this;
        }

        public IdempotentOperation<T> build() {
            return new IdempotentOperation<>(
                    name,
                    resultType,
                    guarantee,
                    lease,
                    maxExecution,
                    retention,
                    waitAtMost,
                    onDuplicate,
                    storeResult,
                    storeFailures,
                    releaseFailures);
        }
    }
}
