package io.idempotency.boot;

import io.idempotency.engine.OperationSettings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The durations of an operation and what they may be, wherever they are written: property, annotation or template. */
enum DurationSetting {
    LEASE("lease", true),
    MAX_EXECUTION("max-execution", true),
    RETENTION("retention", true),
    WAIT_AT_MOST("wait-at-most", false);

    private final String property;
    private final boolean positive;

    DurationSetting(String property, boolean positive) {
        this.property = property;
        this.positive = positive;
    }

    /** Name under {@code idempotency.} and {@code idempotency.operations.<name>.}. */
    String property() {
        return property;
    }

    /** Completes the sentence "… is 'value' and …"; null if the value can be used. */
    @Nullable
    String objectionTo(Duration value) {
        if (positive && value.compareTo(Duration.ofMillis(1)) < 0) {
            return "must be at least 1ms";
        }
        if (value.isNegative()) {
            return "must not be negative";
        }
        if (value.compareTo(OperationSettings.LONGEST_RETENTION) > 0) {
            return "must be 36500d at most";
        }
        return null;
    }

    void check(String prefix, @Nullable Duration value) {
        if (value == null) {
            return;
        }
        String objection = objectionTo(value);
        if (objection != null) {
            throw IdempotencyConfigurationException.ofProperty(
                    prefix + property, Durations.print(value), objection, remedy());
        }
    }

    String remedy() {
        return "Set another value, for example " + example() + ".";
    }

    private String example() {
        return switch (this) {
            case LEASE -> "30s";
            case MAX_EXECUTION -> "10m";
            case RETENTION -> "24h";
            case WAIT_AT_MOST -> "0s";
        };
    }
}
