package io.idempotency.engine;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.WriteOutcome;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps one lease alive until it is stopped, lost, or the maximum execution time is over. */
final class LeaseRenewal {

    private static final Logger log = LoggerFactory.getLogger(LeaseRenewal.class);

    private final IdempotencyStore store;
    private final EngineRuntime runtime;
    private final Lease lease;
    private final Duration maxExecution;
    private final Runnable onLost;
    private final long start;
    private volatile boolean stopped;
    private volatile EngineRuntime.Scheduled next = () -> {};

    LeaseRenewal(IdempotencyStore store, EngineRuntime runtime, Lease lease, Duration maxExecution, Runnable onLost) {
        this.store = store;
        this.runtime = runtime;
        this.lease = lease;
        this.maxExecution = maxExecution;
        this.onLost = onLost;
        this.start = runtime.nanoTime();
    }

    void start() {
        if (maxExecution.compareTo(length()) > 0) {
            scheduleIn(length().dividedBy(3));
        }
    }

    void stop() {
        stopped = true;
        next.cancel();
    }

    private Duration length() {
        return lease.request().lease();
    }

    private void scheduleIn(Duration delay) {
        Duration spread = Duration.ofNanos((long) (delay.toNanos() * (0.9 + runtime.random() / 5)));
        next = runtime.schedule(spread, this::renew);
    }

    private void renew() {
        if (stopped) {
            return;
        }
        if (runtime.nanoTime() - start >= maxExecution.toNanos()) {
            log.warn(
                    "Operation {} ({}) still runs after its maximum execution time of {}; its lease is no longer renewed",
                    lease.request().operation(),
                    lease.id(),
                    maxExecution);
            return;
        }
        try {
            if (store.renew(lease) == WriteOutcome.LOST) {
                onLost.run();
                return;
            }
            scheduleIn(length().dividedBy(3));
        } catch (RuntimeException e) {
            tellOf(e);
            // A scheduler keeps to itself what a task throws, and nobody would renew any more.
            scheduleIn(length().dividedBy(10));
        }
    }

    private void tellOf(RuntimeException failure) {
        String message = "A lease of operation {} ({}) could not be renewed; trying again";
        String operation = lease.request().operation();
        if (failure instanceof StoreUnavailableException) {
            log.debug(message, operation, lease.id(), failure);
        } else {
            log.warn(message, operation, lease.id(), failure);
        }
    }
}
