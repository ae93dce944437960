package io.idempotency.engine;

import io.idempotency.Guarantee;
import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spi.OutcomePolicy;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How one operation is run: the outcome of configuration, never partial.
 *
 * @param operation name of the operation
 * @param guarantee the chosen guarantee, never {@link Guarantee#AUTO}
 * @param lease how long a vanished owner blocks its key; at least 1 ms
 * @param maxExecution how long a lease is renewed; no longer than the lease means never
 * @param retention how long a result is kept from its completion; 1 ms to 36500 days
 * @param waitAtMost how long a duplicate waits; zero to refuse at once
 * @param rejectDuplicates whether the duplicate of a finished call is refused instead of replayed
 * @param storeResult whether results are kept, or only the fact
 * @param proceedOnStoreFailure whether the action runs unprotected when the store cannot answer a claim
 * @param storeFailures exceptions that are a final result, as far as they are named
 * @param outcomePolicy what becomes of an attempt whose action threw
 * @param transactions transactions of the operation; required by {@link Guarantee#EXACTLY_ONCE}, else not used
 * @param failOnWorkOutside whether work outside the transaction fails the call instead of being reported
 * @since 0.1.0
 */
public record OperationSettings(
        String operation,
        Guarantee guarantee,
        Duration lease,
        Duration maxExecution,
        Duration retention,
        Duration waitAtMost,
        boolean rejectDuplicates,
        boolean storeResult,
        boolean proceedOnStoreFailure,
        List<Class<? extends Throwable>> storeFailures,
        OutcomePolicy outcomePolicy,
        @Nullable BusinessTransactions transactions,
        boolean failOnWorkOutside) {

    /** Longest retention that every database can add to its clock. */
    public static final Duration LONGEST_RETENTION = Duration.ofDays(36500);

    public OperationSettings {
        storeFailures = List.copyOf(storeFailures);
        require(
                guarantee != Guarantee.AUTO,
                operation,
                "guarantee",
                guarantee,
                "must be resolved before the engine sees it");
        require(lease.toMillis() >= 1, operation, "lease", lease, "must be at least 1ms");
        require(maxExecution.toMillis() >= 1, operation, "max-execution", maxExecution, "must be at least 1ms");
        require(retention.toMillis() >= 1, operation, "retention", retention, "must be at least 1ms");
        require(
                retention.compareTo(LONGEST_RETENTION) <= 0,
                operation,
                "retention",
                retention,
                "must be 36500d at most");
        require(!waitAtMost.isNegative(), operation, "wait-at-most", waitAtMost, "must not be negative");
        require(
                guarantee != Guarantee.EXACTLY_ONCE || transactions != null,
                operation,
                "guarantee",
                guarantee,
                "needs the transactions of the store's database");
    }

    private static void require(boolean condition, String operation, String name, Object value, String reason) {
        if (!condition) {
            throw new IllegalArgumentException(name + " of operation " + operation + " is " + value + " and " + reason);
        }
    }

    /** Starts from the defaults of the library: 30 s lease, 10 min execution, 24 h retention, no waiting. */
    public static Builder of(String operation, Guarantee guarantee) {
        return new Builder(operation, guarantee);
    }

    /** Collects settings. */
    public static final class Builder {

        private final String operation;
        private final Guarantee guarantee;
        private Duration lease = Duration.ofSeconds(30);
        private Duration maxExecution = Duration.ofMinutes(10);
        private Duration retention = Duration.ofHours(24);
        private Duration waitAtMost = Duration.ZERO;
        private boolean rejectDuplicates;
        private boolean storeResult = true;
        private boolean proceedOnStoreFailure;
        private List<Class<? extends Throwable>> storeFailures = List.of();
        private OutcomePolicy outcomePolicy = new DefaultOutcomePolicy();
        private @Nullable BusinessTransactions transactions;
        private boolean failOnWorkOutside;

        private Builder(String operation, Guarantee guarantee) {
            this.operation = operation;
            this.guarantee = guarantee;
        }

        public Builder lease(Duration lease) {
            this.lease = lease;
            return this;
        }

        public Builder maxExecution(Duration maxExecution) {
            this.maxExecution = maxExecution;
            return this;
        }

        public Builder retention(Duration retention) {
            this.retention = retention;
            return this;
        }

        public Builder waitAtMost(Duration waitAtMost) {
            this.waitAtMost = waitAtMost;
            return this;
        }

        public Builder rejectDuplicates(boolean rejectDuplicates) {
            this.rejectDuplicates = rejectDuplicates;
            return this;
        }

        public Builder storeResult(boolean storeResult) {
            this.storeResult = storeResult;
            return this;
        }

        public Builder proceedOnStoreFailure(boolean proceedOnStoreFailure) {
            this.proceedOnStoreFailure = proceedOnStoreFailure;
            return this;
        }

        /** For replays; the policy is what stores them. */
        public Builder storeFailures(List<Class<? extends Throwable>> storeFailures) {
            this.storeFailures = storeFailures;
            return this;
        }

        public Builder outcomePolicy(OutcomePolicy outcomePolicy) {
            this.outcomePolicy = outcomePolicy;
            return this;
        }

        public Builder transactions(@Nullable BusinessTransactions transactions) {
            this.transactions = transactions;
            return this;
        }

        public Builder failOnWorkOutside(boolean failOnWorkOutside) {
            this.failOnWorkOutside = failOnWorkOutside;
            return this;
        }

        public OperationSettings build() {
            return new OperationSettings(
                    operation,
                    guarantee,
                    lease,
                    maxExecution,
                    retention,
                    waitAtMost,
                    rejectDuplicates,
                    storeResult,
                    proceedOnStoreFailure,
                    storeFailures,
                    outcomePolicy,
                    transactions,
                    failOnWorkOutside);
        }
    }
}
