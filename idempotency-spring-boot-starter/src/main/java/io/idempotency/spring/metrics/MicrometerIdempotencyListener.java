package io.idempotency.spring.metrics;

import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.RecordId;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what the engine does. Tags are operations and outcomes, never keys.
 *
 * <ul>
 *   <li>{@code idempotency.requests} by operation and outcome: every call
 *   <li>{@code idempotency.observed} by operation and outcome: every call in the mode {@code observe}, by what it would have come to
 *   <li>{@code idempotency.takeovers} by operation: abandoned records that were taken over
 *   <li>{@code idempotency.lease.lost} by operation: attempts that no longer owned their key
 *   <li>{@code idempotency.complete.failed} by operation: results that could not be stored
 *   <li>{@code idempotency.unique.conflicts} by operation: other attempts found when a key was recorded
 *   <li>{@code idempotency.outside.transaction} by operation: work outside the transaction of its operation
 *   <li>{@code idempotency.tier} by result: whether the cache of a tiered store was asked and what it knew
 *   <li>{@code idempotency.purged}: expired records that were removed
 *   <li>{@code idempotency.purge.lag}: for how long expired records have been waiting, as of the last run
 * </ul>
 *
 * @since 0.1.0
 */
public final class MicrometerIdempotencyListener implements IdempotencyListener {

    private final MeterRegistry registry;
    private final Map<String, Map<String, Counter>> requests = new ConcurrentHashMap<>();
    private final Map<String, Counter> tier = new ConcurrentHashMap<>();
    private final Counter purged;
    private final AtomicLong purgeLagMillis = new AtomicLong();

    public MicrometerIdempotencyListener(MeterRegistry registry) {
        this.registry = registry;
        this.purged = Counter.builder("idempotency.purged")
                .description("Expired records that were removed")
                .register(registry);
        TimeGauge.builder("idempotency.purge.lag", purgeLagMillis::get, TimeUnit.MILLISECONDS)
                .description("For how long expired records have been waiting for the purge, as of its last run")
                .register(registry);
    }

    @Override
    public void onCallEnded(String operation, String outcome, Duration elapsed) {
        requests.computeIfAbsent(operation, name -> new ConcurrentHashMap<>())
                .computeIfAbsent(
                        outcome,
                        ending -> Counter.builder("idempotency.requests")
                                .description("Calls of idempotent operations")
                                .tag("operation", operation)
                                .tag("outcome", ending)
                                .register(registry))
                .increment();
    }

    @Override
    public void onObserved(String operation, String outcome) {
        Counter.builder("idempotency.observed")
                .description("Calls that ran unprotected, by what they would have come to")
                .tag("operation", operation)
                .tag("outcome", outcome)
                .register(registry)
                .increment();
    }

    @Override
    public void onTakeover(String operation, RecordId id, long token) {
        count("idempotency.takeovers", "Abandoned records that were taken over", operation);
    }

    @Override
    public void onLeaseLost(String operation, RecordId id) {
        count("idempotency.lease.lost", "Attempts that found that they no longer own their key", operation);
    }

    @Override
    public void onCompletionFailed(String operation, RecordId id, Throwable failure) {
        count("idempotency.complete.failed", "Results that could not be stored", operation);
    }

    @Override
    public void onConflict(String operation, RecordId id) {
        count("idempotency.unique.conflicts", "Other attempts found when a key was recorded", operation);
    }

    @Override
    public void onWorkOutsideTransaction(String operation, String what) {
        count("idempotency.outside.transaction", "Work outside the transaction of its operation", operation);
    }

    @Override
    public void onTierAsked(String result) {
        tier.computeIfAbsent(
                        result,
                        answer -> Counter.builder("idempotency.tier")
                                .description("Claims by what the cache before the database did for them")
                                .tag("result", answer)
                                .register(registry))
                .increment();
    }

    @Override
    public void onPurged(int records) {
        purged.increment(records);
    }

    @Override
    public void onPurgeRun(Duration lag) {
        purgeLagMillis.set(lag.toMillis());
    }

    private void count(String name, String description, String operation) {
        Counter.builder(name)
                .description(description)
                .tag("operation", operation)
                .register(registry)
                .increment();
    }
}
