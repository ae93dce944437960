package io.idempotency.engine;

import io.idempotency.DuplicateRejectedException;
import io.idempotency.Guarantee;
import io.idempotency.IdempotencyException;
import io.idempotency.KeyReusedException;
import io.idempotency.OperationInProgressException;
import io.idempotency.OutcomeUnknownException;
import io.idempotency.ResultUnreadableException;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Owner;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Says what a call gets that did not get its key. The fingerprint is compared before the state. */
final class Judge {

    private final Results results;
    private final RunningTimes times;

    Judge(Results results, RunningTimes times) {
        this.results = results;
        this.times = times;
    }

    Verdict judge(Call call, ClaimResult found) {
        if (found instanceof ClaimResult.Done done) {
            return contradicts(call, done.fingerprint()) ? reused(call, done.fingerprint()) : finished(call, done);
        }
        if (found instanceof ClaimResult.InProgress inProgress) {
            return contradicts(call, inProgress.fingerprint())
                    ? reused(call, inProgress.fingerprint())
                    : busy(call, inProgress.leaseLeft());
        }
        if (found instanceof ClaimResult.Abandoned abandoned) {
            return contradicts(call, abandoned.fingerprint())
                    ? reused(call, abandoned.fingerprint())
                    : vanished(call, abandoned);
        }
        if (found instanceof ClaimResult.Unreadable unreadable) {
            return contradicts(call, unreadable.fingerprint())
                    ? reused(call, unreadable.fingerprint())
                    : unreadable(call, unreadable);
        }
        if (found instanceof ClaimResult.Contended) {
            return busy(call, null);
        }
        throw new IllegalStateException("Not an answer to judge: " + found);
    }

    Verdict.Busy busy(Call call, @Nullable Duration leaseLeft) {
        Duration hint = times.average(call.operation());
        if (leaseLeft != null && leaseLeft.compareTo(hint) < 0) {
            hint = leaseLeft;
        }
        return new Verdict.Busy(new OperationInProgressException(
                "Operation " + call.operation() + " with the same key (" + call.id()
                        + ") is still running; retry later",
                hint));
    }

    private static boolean contradicts(Call call, Fingerprint stored) {
        return call.fingerprint().contradicts(stored);
    }

    private static Verdict reused(Call call, Fingerprint stored) {
        return new Verdict.Refused(new KeyReusedException(
                "The key (" + call.id() + ") of operation " + call.operation()
                        + " was first used with another payload; use a new key for a new request",
                stored.asText(),
                call.fingerprint().asText()));
    }

    private Verdict finished(Call call, ClaimResult.Done done) {
        if (call.settings().rejectDuplicates()) {
            return new Verdict.Refused(new DuplicateRejectedException(
                    "Operation " + call.operation() + " (" + call.id() + ") was done before and rejects duplicates",
                    done.retentionLeft()));
        }
        return new Verdict.Replay(new Completion.Replayed(results.open(call, done.result()), done.retentionLeft()));
    }

    // The vanished attempt's own guarantee decides: it made the promise.
    private static Verdict vanished(Call call, ClaimResult.Abandoned abandoned) {
        if (abandoned.guarantee() == Guarantee.AT_MOST_ONCE) {
            return new Verdict.Refused(new OutcomeUnknownException("An earlier attempt of operation " + call.operation()
                    + " (" + call.id() + ") vanished; whether it was done is not known until it is resolved"));
        }
        return new Verdict.TakeOver(abandoned.owner());
    }

    private static Verdict unreadable(Call call, ClaimResult.Unreadable unreadable) {
        return new Verdict.Refused(new ResultUnreadableException(
                "The record of operation " + call.operation() + " (" + call.id() + ") cannot be read: "
                        + unreadable.reason(),
                null));
    }

    /** What a call gets that did not get its key. */
    sealed interface Verdict {

        /** The stored result. */
        record Replay(Completion.Replayed completion) implements Verdict {}

        /** A refusal that waiting does not change. */
        record Refused(IdempotencyException refusal) implements Verdict {}

        /** A refusal that may change when the other attempt ends. */
        record Busy(OperationInProgressException refusal) implements Verdict {}

        /** Another claim, which takes over from the owner that was seen. */
        record TakeOver(Owner seen) implements Verdict {}
    }
}
