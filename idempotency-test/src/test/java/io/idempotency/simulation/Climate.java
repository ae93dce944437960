package io.idempotency.simulation;

import io.idempotency.Guarantee;
import io.idempotency.simulation.SimulatedDatabase.Claiming;
import java.time.Duration;
import java.util.List;

/**
 * How hard the life of one seed is.
 *
 * @param guarantee of all its calls
 * @param claiming how the database claims under {@link Guarantee#EXACTLY_ONCE}
 * @param faults probability that a call of the store goes wrong
 * @param deaths probability that a process dies, at each step
 * @param pauses probability that a process stands still for up to three leases, at each step
 * @param jumps whether the clocks of the processes jump
 * @param maxExecution how long a lease is renewed
 * @param waitAtMost how long a duplicate waits
 */
record Climate(
        Guarantee guarantee,
        Claiming claiming,
        double faults,
        double deaths,
        double pauses,
        boolean jumps,
        Duration maxExecution,
        Duration waitAtMost) {

    static final Duration LEASE = Duration.ofSeconds(10);

    static Climate by(Chance chance) {
        Guarantee guarantee =
                chance.oneOf(List.of(Guarantee.EXACTLY_ONCE, Guarantee.AT_MOST_ONCE, Guarantee.AT_LEAST_ONCE));
        Claiming claiming = chance.oneOf(List.of(Claiming.values()));
        Duration waitAtMost = chance.in(0.5) ? Duration.ZERO : Duration.ofSeconds(15);
        if (chance.in(0.2)) {
            return new Climate(guarantee, claiming, 0, 0, 0, false, Duration.ofMinutes(10), waitAtMost);
        }
        return new Climate(
                guarantee,
                claiming,
                chance.oneOf(List.of(0.0, 0.02, 0.1, 0.3)),
                chance.oneOf(List.of(0.0, 0.003, 0.02)),
                chance.oneOf(List.of(0.0, 0.01, 0.05)),
                chance.in(0.3),
                chance.in(0.2) ? LEASE : Duration.ofMinutes(10),
                waitAtMost);
    }

    /** Nothing goes wrong but the work itself. */
    boolean quiet() {
        return faults == 0 && deaths == 0 && pauses == 0 && maxExecution.compareTo(LEASE) > 0;
    }
}
