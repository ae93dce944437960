package io.idempotency.engine;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases, in the background, keys whose action is known not to have run or to have failed: by owner, so that nobody else's
 * record is touched.
 */
final class Sweeper {

    private static final Logger log = LoggerFactory.getLogger(Sweeper.class);
    private static final int MOST_AT_ONCE = 1024;
    private static final Duration FIRST_DELAY = Duration.ofMillis(100);
    private static final Duration LONGEST_DELAY = Duration.ofSeconds(10);

    private final IdempotencyStore store;
    private final EngineRuntime runtime;
    private final Semaphore places = new Semaphore(MOST_AT_ONCE);

    Sweeper(IdempotencyStore store, EngineRuntime runtime) {
        this.store = store;
        this.runtime = runtime;
    }

    /**
     * After a claim whose answer was lost. The command may still be on its way, so only a release that the store answers at least
     * one lease after the claim was sent counts.
     */
    void afterUnknownClaim(ClaimRequest request, long sentAt) {
        sweep(new Lease(request, 0), sentAt + request.lease().toNanos());
    }

    /** After a release that the store did not answer. */
    void afterFailedRelease(Lease lease) {
        sweep(lease, runtime.nanoTime());
    }

    private void sweep(Lease lease, long countsFrom) {
        if (!places.tryAcquire()) {
            log.warn(
                    "The store is silent and {} keys wait to be released; {} of operation {} stays until its lease is over",
                    MOST_AT_ONCE,
                    lease.id(),
                    lease.request().operation());
            return;
        }
        later(lease, countsFrom, FIRST_DELAY);
    }

    private void later(Lease lease, long countsFrom, Duration delay) {
        runtime.schedule(delay, () -> attempt(lease, countsFrom, delay));
    }

    private void attempt(Lease lease, long countsFrom, Duration delay) {
        long asked = runtime.nanoTime();
        try {
            store.release(lease);
            if (asked - countsFrom >= 0) {
                places.release();
                return;
            }
        } catch (StoreUnavailableException e) {
            log.debug(
                    "A key of operation {} could not be released; trying again",
                    lease.request().operation(),
                    e);
        } catch (RuntimeException e) {
            places.release();
            log.warn(
                    "A key of operation {} ({}) could not be released",
                    lease.request().operation(),
                    lease.id(),
                    e);
            return;
        }
        Duration doubled = delay.multipliedBy(2);
        later(lease, countsFrom, doubled.compareTo(LONGEST_DELAY) < 0 ? doubled : LONGEST_DELAY);
    }
}
