package io.idempotency.engine;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A running average of how long each operation takes: the basis of the hint when to retry. */
final class RunningTimes {

    private static final double WEIGHT_OF_THE_LATEST = 0.2;
    private static final Duration UNKNOWN = Duration.ofSeconds(1);

    private final Map<String, Double> averageNanos = new ConcurrentHashMap<>();

    void record(String operation, long nanos) {
        averageNanos.merge(
                operation, (double) nanos, (average, latest) -> average + WEIGHT_OF_THE_LATEST * (latest - average));
    }

    Duration average(String operation) {
        Double nanos = averageNanos.get(operation);
        return nanos == null ? UNKNOWN : Duration.ofNanos(nanos.longValue());
    }
}
