package io.idempotency.engine;

import io.idempotency.StoreUnavailableException;
import io.idempotency.engine.Judge.Verdict;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.WriteOutcome;
import java.time.Duration;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The last writes of a leased attempt, and what follows when they fail. */
final class LeasedRecord {

    private static final Logger log = LoggerFactory.getLogger(LeasedRecord.class);
    private static final Duration[] PAUSES = {Duration.ofMillis(50), Duration.ofMillis(200)};

    private final IdempotencyStore store;
    private final EngineRuntime runtime;
    private final SafeListener listener;
    private final Results results;
    private final Judge judge;
    private final Sweeper sweeper;

    LeasedRecord(
            IdempotencyStore store,
            EngineRuntime runtime,
            SafeListener listener,
            Results results,
            Judge judge,
            Sweeper sweeper) {
        this.store = store;
        this.runtime = runtime;
        this.listener = listener;
        this.results = results;
        this.judge = judge;
        this.sweeper = sweeper;
    }

    LeaseRenewal renewal(Lease lease, Duration maxExecution, Runnable onLost) {
        return new LeaseRenewal(store, runtime, lease, maxExecution, onLost);
    }

    void lost(Call call) {
        log.warn("An attempt of operation {} ({}) has lost its lease and still runs", call.operation(), call.id());
        listener.onLeaseLost(call.operation(), call.id());
    }

    /** Stores the result. When that fails after the effect, the caller still gets his result: it is true. */
    Completion store(Call call, Lease lease, StoredResult result, boolean lostBefore) {
        StoredResult sealed;
        try {
            sealed = results.seal(result);
            WriteOutcome outcome = insist(
                    call, () -> store.complete(lease, sealed, call.settings().retention()));
            if (outcome == WriteOutcome.APPLIED) {
                return new Completion.Executed(true, false);
            }
        } catch (RuntimeException e) {
            return notStored(call, e);
        }
        if (!lostBefore) {
            lost(call);
        }
        return afterLoss(call, lease, sealed);
    }

    private <R> R insist(Call call, Supplier<R> write) {
        for (Duration pause : PAUSES) {
            try {
                return write.get();
            } catch (StoreUnavailableException e) {
                log.debug(
                        "The result of operation {} ({}) could not be stored; trying again",
                        call.operation(),
                        call.id(),
                        e);
                if (!sleep(pause)) {
                    throw e;
                }
            }
        }
        return write.get();
    }

    private boolean sleep(Duration pause) {
        try {
            runtime.sleep(pause);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private Completion notStored(Call call, RuntimeException failure) {
        log.error(
                "Operation {} ({}) was done and its result could not be stored; duplicates are refused until its lease is over",
                call.operation(),
                call.id(),
                failure);
        listener.onCompletionFailed(call.operation(), call.id(), failure);
        return new Completion.Executed(false, false);
    }

    // An absent record contradicts nothing, so the result goes straight to DONE; whatever stands there instead is the
    // answer. Where that cannot be learnt there is none: another attempt may have answered already.
    private Completion afterLoss(Call call, Lease lease, StoredResult sealed) {
        ClaimResult found;
        try {
            found = insist(call, () -> store.recordDone(lease.request(), sealed));
        } catch (StoreUnavailableException e) {
            log.error(
                    "Operation {} ({}) was done, lost its lease, and what its record says now could not be found out",
                    call.operation(),
                    call.id(),
                    e);
            listener.onCompletionFailed(call.operation(), call.id(), e);
            throw e;
        }
        if (found instanceof ClaimResult.Claimed
                || found instanceof ClaimResult.Done done && done.owner().equals(lease.owner())) {
            return new Completion.Executed(true, false);
        }
        Verdict verdict = judge.judge(call, found);
        if (verdict instanceof Verdict.Replay replay) {
            return replay.completion();
        }
        if (verdict instanceof Verdict.Refused refused) {
            throw refused.refusal();
        }
        throw judge.busy(call, null).refusal();
    }

    /** Frees the key where no exception is there to carry a failure of ours. */
    void releaseQuietly(Call call, Lease lease) {
        try {
            release(call, lease);
        } catch (StoreUnavailableException e) {
            log.debug("Reported by release", e);
        }
    }

    /** Frees the key; if the store is silent, later and in the background. */
    void release(Call call, Lease lease) {
        try {
            if (store.release(lease) == WriteOutcome.LOST) {
                log.debug("Operation {} ({}) had lost its key before it could release it", call.operation(), call.id());
            }
        } catch (StoreUnavailableException e) {
            sweeper.afterFailedRelease(lease);
            log.warn("The key of operation {} ({}) could not be released; trying again", call.operation(), call.id());
            listener.onCompletionFailed(call.operation(), call.id(), e);
            throw e;
        }
    }
}
