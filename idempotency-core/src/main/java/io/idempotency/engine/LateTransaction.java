package io.idempotency.engine;

import io.idempotency.IdempotencyContext;
import io.idempotency.StoreUnavailableException;
import io.idempotency.engine.Judge.Verdict;
import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.TransactionConflictException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A transaction in which the key is claimed after other work has begun. The claim joins it on every database. */
final class LateTransaction implements LateWork.Claim {

    private final Judge judge;
    private final RunningCalls running;
    private final BusinessTransactions transactions;
    private final Function<Call, TransactionalAttempt> attempts;
    private BusinessTransactions.@Nullable Handle transaction;
    private @Nullable TransactionalAttempt attempt;
    private @Nullable ClaimResult inTheWay;
    private @Nullable StoreUnavailableException silent;
    private IdempotencyContext.@Nullable Scope binding;
    private boolean rolledBack;

    LateTransaction(
            Judge judge,
            RunningCalls running,
            BusinessTransactions transactions,
            Function<Call, TransactionalAttempt> attempts) {
        this.judge = judge;
        this.running = running;
        this.transactions = transactions;
        this.attempts = attempts;
    }

    /** The attempt; null if nothing was claimed. */
    @Nullable
    TransactionalAttempt attempt() {
        return attempt;
    }

    /** What kept the key from being claimed; null if it was claimed or nobody asked for it. */
    @Nullable
    ClaimResult inTheWay() {
        return inTheWay;
    }

    /** The store's failure in the claim. */
    @Nullable
    StoreUnavailableException silent() {
        return silent;
    }

    /** Whether work that claimed nothing was undone. */
    boolean isRolledBack() {
        return rolledBack;
    }

    @Override
    public @Nullable Attempt of(Call call) {
        if (attempt != null || transaction == null) {
            throw new IllegalStateException(
                    "Only one key can be claimed, while the work of operation " + call.operation() + " runs");
        }
        TransactionalCalls.refuseReadOnly(call, transactions);
        TransactionalAttempt claiming = attempts.apply(call);
        attempt = claiming;
        try {
            ClaimResult found = claiming.claimInOpen();
            if (found instanceof ClaimResult.Abandoned
                    && judge.judge(call, found) instanceof Verdict.TakeOver takeOver) {
                claiming.takeOverFrom(takeOver.seen());
                found = claiming.claimInOpen();
            }
            if (found instanceof ClaimResult.Claimed claimed) {
                claiming.begin(claimed, transaction, transactions);
                running.started(call);
                binding = running.bind(call, claiming);
                return claiming;
            }
            inTheWay = found;
        } catch (TransactionConflictException conflict) {
            inTheWay = new ClaimResult.Contended();
        } catch (StoreUnavailableException e) {
            silent = e;
        }
        transaction.setRollbackOnly();
        return null;
    }

    /** Runs the work in the transaction, which somebody else ends. */
    Void run(LateWork work, BusinessTransactions.Handle open) throws Throwable {
        transaction = open;
        Finish finish;
        try {
            finish = runBound(work);
        } catch (Throwable failure) {
            if (attempt == null || !attempt.ran()) {
                throw failure;
            }
            attempt.failed(failure, open, transactions);
            return done();
        }
        if (attempt != null && attempt.ran()) {
            attempt.finished(finish, open);
        } else {
            rolledBack = attempt != null || !(finish instanceof Finish.Store) || open.isRollbackOnly();
            if (rolledBack) {
                open.setRollbackOnly();
            }
        }
        return done();
    }

    @SuppressWarnings("NullAway") // Void has no other value.
    private static Void done() {
        return null;
    }

    private Finish runBound(LateWork work) throws Throwable {
        try {
            return work.run(this);
        } finally {
            if (binding != null && attempt != null) {
                binding.close();
                running.ended(attempt.call());
            }
        }
    }
}
