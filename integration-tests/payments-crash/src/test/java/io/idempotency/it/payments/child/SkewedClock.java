package io.idempotency.it.payments.child;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;

/** The clock of an application server that is wrong by the system property {@code clock.skew}. */
public final class SkewedClock {

    private static final Duration SKEW = Duration.parse(System.getProperty("clock.skew", "PT0S"));

    private SkewedClock() {}

    public static long currentTimeMillis() {
        return System.currentTimeMillis() + SKEW.toMillis();
    }

    public static Instant now() {
        return Instant.now().plus(SKEW);
    }

    public static Clock systemUTC() {
        return Clock.offset(Clock.systemUTC(), SKEW);
    }

    public static Clock systemDefaultZone() {
        return Clock.offset(Clock.systemDefaultZone(), SKEW);
    }

    public static Clock system(ZoneId zone) {
        return Clock.offset(Clock.system(zone), SKEW);
    }

    public static InstantSource system() {
        return InstantSource.offset(InstantSource.system(), SKEW);
    }
}
