package io.idempotency.boot;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.Mode;
import io.idempotency.engine.OperationSettings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * How an operation is run, and what is told about it at start.
 *
 * @param place where it is declared, for messages
 * @param whyNotExactlyOnce why {@code AUTO} could not choose it; null if it did, or if the choice was explicit
 * @param mode what is done with its calls
 */
record ResolvedOperation(
        OperationSettings settings,
        String store,
        String place,
        @Nullable String whyNotExactlyOnce,
        Mode mode,
        boolean keyRequired,
        FingerprintScheme fingerprintScheme) {

    /** Whether its calls run unprotected and nothing of this can be changed while the application runs. */
    boolean off() {
        return mode == Mode.OFF;
    }

    void report(Logger log) {
        if (off()) {
            log.warn("{}", line());
            return;
        }
        if (mode == Mode.OBSERVE) {
            log.warn("{}; its mode is observe, calls run unprotected and are counted", line());
        } else {
            log.info("{}", line());
        }
        if (settings.guarantee() == Guarantee.EXACTLY_ONCE) {
            return;
        }
        if (settings.guarantee() == Guarantee.AT_MOST_ONCE) {
            log.warn(
                    "{}: AT_MOST_ONCE without an OutcomeResolver: if a process vanishes, its keys are answered as outcome-unknown until"
                            + " they are resolved by IdempotencyAdmin or their retention is over",
                    settings.operation());
        }
        warnOfShortRetention(log);
    }

    private void warnOfShortRetention(Logger log) {
        Duration longest =
                settings.lease().compareTo(settings.maxExecution()) > 0 ? settings.lease() : settings.maxExecution();
        if (settings.retention().compareTo(longest) < 0) {
            log.warn(
                    "{}: retention {} is shorter than {} {}: the result of a slow call may be forgotten while its duplicates still"
                            + " arrive",
                    settings.operation(),
                    Durations.print(settings.retention()),
                    longest.equals(settings.maxExecution()) ? "max-execution" : "lease",
                    Durations.print(longest));
        }
    }

    /** What the operation got, in one line. */
    String line() {
        if (off()) {
            return settings.operation() + ": its mode is off, calls of " + place + " run unprotected";
        }
        String retention = "retention " + Durations.print(settings.retention());
        String start = settings.operation() + ": " + settings.guarantee() + " in " + store + ", ";
        if (settings.guarantee() == Guarantee.EXACTLY_ONCE) {
            return start + retention + "; remote calls at least once";
        }
        return start + "lease " + Durations.print(settings.lease()) + ", " + retention
                + (whyNotExactlyOnce == null ? "" : " (not EXACTLY_ONCE: " + whyNotExactlyOnce + ")");
    }
}
