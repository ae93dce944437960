package io.idempotency.engine;

import io.idempotency.StoreUnavailableException;
import io.idempotency.engine.Judge.Verdict;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.ResultCodec;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The leased guarantees: claim and completion are steps of their own, and a lease tells when an owner has vanished. */
final class LeasedCalls {

    private static final Logger log = LoggerFactory.getLogger(LeasedCalls.class);

    private final IdempotencyStore store;
    private final EngineRuntime runtime;
    private final SafeListener listener;
    private final Results results;
    private final Judge judge;
    private final Waiters waiters;
    private final RunningCalls running;
    private final Sweeper sweeper;
    private final Steps steps;

    LeasedCalls(
            IdempotencyStore store,
            EngineRuntime runtime,
            SafeListener listener,
            Results results,
            Judge judge,
            Waiters waiters,
            RunningCalls running,
            List<ResultCodec> codecs) {
        this.store = store;
        this.runtime = runtime;
        this.listener = listener;
        this.results = results;
        this.judge = judge;
        this.waiters = waiters;
        this.running = running;
        this.sweeper = new Sweeper(store, runtime);
        this.steps = new Steps(this, codecs);
    }

    Completion execute(Call call, Work work) throws Throwable {
        Decision decision = claim(call, () -> {});
        if (decision instanceof Decision.Replay replay) {
            return replay.completion();
        }
        RunningAttempt attempt = ((Decision.Proceed) decision).attempt().orElse(null);
        if (attempt == null) {
            running.run(call, new UnprotectedAttempt(), work);
            return new Completion.Executed(false, false);
        }
        Finish finish;
        try {
            finish = running.run(call, attempt, work);
        } catch (Throwable failure) {
            attempt.fail(failure);
            throw failure;
        }
        return attempt.finish(finish);
    }

    Decision begin(Call call) {
        Decision decision = claim(call, () -> running.ended(call));
        if (decision instanceof Decision.Proceed proceed && proceed.attempt().isPresent()) {
            running.started(call);
        }
        return decision;
    }

    private Decision claim(Call call, Runnable onEnd) {
        try (Waiters.Waiting waiting = waiters.until(call.id(), call.settings().waitAtMost())) {
            ClaimRequest request = call.claimBy(runtime.newOwner());
            while (true) {
                ClaimResult answer = tryClaim(call, request);
                if (answer == null) {
                    return new Decision.Proceed(Optional.empty());
                }
                if (answer instanceof ClaimResult.Claimed claimed) {
                    return new Decision.Proceed(Optional.of(granted(call, claimed, onEnd)));
                }
                Verdict verdict = judge.judge(call, answer);
                if (verdict instanceof Verdict.Replay replay) {
                    return new Decision.Replay(replay.completion());
                }
                if (verdict instanceof Verdict.Refused refused) {
                    throw refused.refusal();
                }
                if (verdict instanceof Verdict.TakeOver takeOver) {
                    request = request.takingOverFrom(takeOver.seen());
                } else if (verdict instanceof Verdict.Busy busy && !waiting.again()) {
                    throw busy.refusal();
                }
            }
        }
    }

    // Null: the store cannot answer and the operation proceeds then.
    private @Nullable ClaimResult tryClaim(Call call, ClaimRequest request) {
        long sentAt = runtime.nanoTime();
        try {
            return store.tryClaim(request);
        } catch (StoreUnavailableException e) {
            sweeper.afterUnknownClaim(request, sentAt);
            if (call.settings().proceedOnStoreFailure()) {
                log.warn("The store cannot answer; operation {} ({}) runs unprotected", call.operation(), call.id(), e);
                return null;
            }
            throw e;
        }
    }

    private LeasedAttempt granted(Call call, ClaimResult.Claimed claimed, Runnable onEnd) {
        if (claimed.takeover()) {
            log.info(
                    "Operation {} ({}) takes over from an attempt that vanished; token {}",
                    call.operation(),
                    call.id(),
                    claimed.lease().token());
            listener.onTakeover(call.operation(), call.id(), claimed.lease().token());
        }
        return new LeasedAttempt(
                call,
                claimed,
                new LeasedRecord(store, runtime, listener, results, judge, sweeper),
                running,
                steps,
                () -> {
                    onEnd.run();
                    waiters.ended(call.id());
                });
    }
}
