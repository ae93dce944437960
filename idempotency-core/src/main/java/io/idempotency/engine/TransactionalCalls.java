package io.idempotency.engine;

import io.idempotency.StoreUnavailableException;
import io.idempotency.engine.Judge.Verdict;
import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.CommitFailedException;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.OutcomePolicy.Disposition;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionConflictException;
import io.idempotency.spi.TransactionalStore;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** EXACTLY_ONCE: the claim and the completion are part of the business transaction. No lease and no clock is involved. */
final class TransactionalCalls {

    private static final Logger log = LoggerFactory.getLogger(TransactionalCalls.class);

    private final TransactionalStore store;
    private final EngineRuntime runtime;
    private final SafeListener listener;
    private final Results results;
    private final Judge judge;
    private final Waiters waiters;
    private final RunningCalls running;

    TransactionalCalls(
            TransactionalStore store,
            EngineRuntime runtime,
            SafeListener listener,
            Results results,
            Judge judge,
            Waiters waiters,
            RunningCalls running) {
        this.store = store;
        this.runtime = runtime;
        this.listener = listener;
        this.results = results;
        this.judge = judge;
        this.waiters = waiters;
        this.running = running;
    }

    Completion execute(Call call, Work work) throws Throwable {
        BusinessTransactions transactions =
                Objects.requireNonNull(call.settings().transactions());
        if (transactions.isOpen()) {
            return inOpenTransaction(call, work, transactions);
        }
        try (Waiters.Waiting waiting = waiters.until(call.id(), call.settings().waitAtMost())) {
            boolean triedAgain = false;
            while (true) {
                TransactionalAttempt attempt = newAttempt(call, work.resultInAdvance());
                ClaimResult found;
                try {
                    found = attemptOnce(call, work, transactions, attempt);
                } finally {
                    tellWaiters(attempt);
                }
                if (found == null) {
                    return attempt.completion();
                }
                if (found instanceof ClaimResult.Contended) {
                    found = look(call);
                    if (found == null && !triedAgain && !attempt.ran()) {
                        triedAgain = true;
                        continue;
                    }
                }
                Completion replayed = replayedOrWaitedFor(attempt, found, waiting);
                if (replayed != null) {
                    return replayed;
                }
            }
        }
    }

    /** What the duplicate gets; null once it has waited, to look again. */
    private @Nullable Completion replayedOrWaitedFor(
            TransactionalAttempt attempt, @Nullable ClaimResult found, Waiters.Waiting waiting) {
        Call call = attempt.call();
        Verdict verdict = found == null ? judge.busy(call, null) : judge.judge(call, found);
        if (verdict instanceof Verdict.Replay replay) {
            return replay.completion();
        }
        if (verdict instanceof Verdict.Refused refused) {
            throw refused.refusal();
        }
        // An abandoned record that is taken over at this moment is busy as well.
        Verdict.Busy busy = verdict instanceof Verdict.Busy known ? known : judge.busy(call, null);
        if (attempt.ran() || !waiting.again()) {
            throw busy.refusal();
        }
        return null;
    }

    private void tellWaiters(@Nullable TransactionalAttempt attempt) {
        if (attempt != null && attempt.ran()) {
            waiters.ended(attempt.call().id());
        }
    }

    /** What is in the way; null if nothing is, so that the attempt has its own completion. */
    private @Nullable ClaimResult attemptOnce(
            Call call, Work work, BusinessTransactions transactions, TransactionalAttempt attempt) throws Throwable {
        Optional<ClaimResult> found;
        try {
            Optional<ClaimResult> early = store.beforeTransaction(attempt.request(), transactions.serializable());
            if (early.isPresent() && !canTakeOver(call, early.get(), attempt)) {
                return early.get();
            }
            found = transactions.inNew(transaction -> inTransaction(call, work, transaction, transactions, attempt));
        } catch (CommitFailedException failed) {
            return afterFailedCommit(call, failed, attempt);
        } catch (TransactionConflictException conflict) {
            return afterConflict(attempt, conflict);
        } catch (StoreUnavailableException silent) {
            if (attempt.ran() || !call.settings().proceedOnStoreFailure()) {
                attempt.rolledBack();
                throw silent;
            }
            log.warn(
                    "The store cannot answer; operation {} ({}) runs unprotected", call.operation(), call.id(), silent);
            running.run(call, new UnprotectedAttempt(), work);
            attempt.ended(new Completion.Executed(false, false));
            return null;
        } catch (Throwable failure) {
            attempt.rolledBack();
            storeFailure(call, attempt, failure);
            throw failure;
        }
        return found.isEmpty() ? afterTransaction(call, attempt) : found.get();
    }

    private boolean canTakeOver(Call call, ClaimResult found, TransactionalAttempt attempt) {
        if (found instanceof ClaimResult.Abandoned && judge.judge(call, found) instanceof Verdict.TakeOver takeOver) {
            attempt.takeOverFrom(takeOver.seen());
            return true;
        }
        return false;
    }

    private Optional<ClaimResult> inTransaction(
            Call call,
            Work work,
            BusinessTransactions.Handle transaction,
            BusinessTransactions transactions,
            TransactionalAttempt attempt)
            throws Throwable {
        ClaimResult found = attempt.claim(transactions.serializable());
        if (canTakeOver(call, found, attempt)) {
            found = attempt.claim(transactions.serializable());
        }
        if (found instanceof ClaimResult.Claimed claimed) {
            attempt.run(work, claimed, transaction, transactions);
            return Optional.empty();
        }
        transaction.setRollbackOnly();
        return Optional.of(found);
    }

    private @Nullable ClaimResult afterTransaction(Call call, TransactionalAttempt attempt) throws Throwable {
        attempt.rethrowCommittedFailure();
        if (!attempt.isRolledBack()) {
            return null;
        }
        attempt.rolledBack();
        if (attempt.isOutdone()) {
            return new ClaimResult.Contended();
        }
        StoredResult stands = attempt.standsAfterRollback();
        if (stands != null) {
            attempt.ended(recordAfterRollback(call, attempt, stands));
        }
        return null;
    }

    // A refusal (a 4xx, a stored failure) stays the answer although its transaction is gone; if another attempt was
    // faster, its result counts, and if it still runs, ours is given and not stored.
    private Completion recordAfterRollback(Call call, TransactionalAttempt attempt, StoredResult stands) {
        try {
            ClaimResult found = store.recordDone(attempt.request(), results.seal(stands));
            if (found instanceof ClaimResult.Claimed) {
                return new Completion.Executed(true, true);
            }
            if (found instanceof ClaimResult.Done && judge.judge(call, found) instanceof Verdict.Replay replay) {
                return replay.completion();
            }
        } catch (StoreUnavailableException e) {
            log.warn(
                    "The refusal of operation {} ({}) could not be stored; a retry runs again",
                    call.operation(),
                    call.id(),
                    e);
        }
        return new Completion.Executed(false, true);
    }

    private void storeFailure(Call call, TransactionalAttempt attempt, Throwable failure) {
        if (!attempt.threw(failure)) {
            return;
        }
        OperationSettings settings = call.settings();
        try {
            if (settings.outcomePolicy().onThrow(failure, settings.guarantee()) == Disposition.STORE) {
                recordAfterRollback(call, attempt, FailureFormat.write(failure));
            }
        } catch (RuntimeException ours) {
            failure.addSuppressed(ours);
        }
    }

    private @Nullable ClaimResult afterFailedCommit(
            Call call, CommitFailedException failed, TransactionalAttempt attempt) throws Throwable {
        if (failed.kind() == CommitFailedException.Kind.UNKNOWN && attempt.ran()) {
            switch (store.probe(attempt.lease())) {
                case COMMITTED -> {
                    log.info(
                            "The answer to a commit of operation {} ({}) was lost; it is committed",
                            call.operation(),
                            call.id());
                    attempt.rethrowCommittedFailure();
                    return null;
                }
                case ROLLED_BACK -> attempt.rolledBack();
                case UNKNOWN ->
                    throw new StoreUnavailableException(
                            "Whether operation " + call.operation() + " (" + call.id()
                                    + ") was committed is not known yet; a retry with the same key will find out",
                            failed.failure());
            }
        } else {
            attempt.rolledBack();
        }
        if (failed.kind() == CommitFailedException.Kind.CONFLICT) {
            return answerOfTheWinner(call, failed.failure());
        }
        throw failed.failure();
    }

    private @Nullable ClaimResult afterConflict(TransactionalAttempt attempt, TransactionConflictException conflict) {
        attempt.rolledBack();
        if (attempt.ran()) {
            return answerOfTheWinner(attempt.call(), conflict);
        }
        return new ClaimResult.Contended();
    }

    // The work ran and cannot be run again here, so only a finished winner is an answer.
    private ClaimResult answerOfTheWinner(Call call, RuntimeException failure) {
        listener.onConflict(call.operation(), call.id());
        ClaimResult found = look(call);
        if (found instanceof ClaimResult.Done) {
            return found;
        }
        throw failure;
    }

    private @Nullable ClaimResult look(Call call) {
        return store.find(call.id()).map(IdempotencyRecord::asClaimResult).orElse(null);
    }

    /** Runs work that claims its key on the way. */
    Completion executeLate(OperationSettings settings, LateWork work) throws Throwable {
        BusinessTransactions transactions = Objects.requireNonNull(settings.transactions());
        LateTransaction late = new LateTransaction(judge, running, transactions, call -> newAttempt(call, null));
        ClaimResult found;
        try {
            found = transactions.isOpen()
                    ? inOpenTransaction(late, work, transactions)
                    : inNewTransaction(settings, work, transactions, late);
        } finally {
            tellWaiters(late.attempt());
        }
        if (late.silent() != null) {
            throw late.silent();
        }
        TransactionalAttempt attempt = late.attempt();
        if (attempt == null) {
            return new Completion.Executed(false, late.isRolledBack());
        }
        return found == null ? attempt.completion() : afterLateClaim(attempt, found);
    }

    private static @Nullable ClaimResult inOpenTransaction(
            LateTransaction late, LateWork work, BusinessTransactions transactions) throws Throwable {
        BusinessTransactions.Handle transaction = transactions.open();
        try {
            late.run(work, transaction);
        } catch (Throwable failure) {
            transaction.setRollbackOnly();
            throw failure;
        }
        TransactionalAttempt attempt = late.attempt();
        if (attempt == null || !attempt.ran()) {
            return late.inTheWay();
        }
        attempt.rethrowCommittedFailure();
        return attempt.isOutdone() ? new ClaimResult.Contended() : null;
    }

    private TransactionalAttempt newAttempt(Call call, @Nullable StoredResult resultInAdvance) {
        return new TransactionalAttempt(call, resultInAdvance, store, runtime, listener, results, running);
    }

    private @Nullable ClaimResult inNewTransaction(
            OperationSettings settings, LateWork work, BusinessTransactions transactions, LateTransaction late)
            throws Throwable {
        try {
            transactions.inNew(transaction -> late.run(work, transaction));
        } catch (StoreUnavailableException silent) {
            TransactionalAttempt attempt = late.attempt();
            if (attempt == null && settings.proceedOnStoreFailure()) {
                log.warn("The store cannot answer; operation {} runs unprotected", settings.operation(), silent);
                work.run(call -> new UnprotectedAttempt());
                return null;
            }
            rolledBack(attempt);
            throw silent;
        } catch (CommitFailedException failed) {
            TransactionalAttempt attempt = late.attempt();
            if (attempt == null) {
                throw failed.failure();
            }
            return afterFailedCommit(attempt.call(), failed, attempt);
        } catch (TransactionConflictException conflict) {
            TransactionalAttempt attempt = late.attempt();
            if (attempt == null) {
                throw conflict;
            }
            return afterConflict(attempt, conflict);
        } catch (Throwable failure) {
            TransactionalAttempt attempt = late.attempt();
            if (attempt != null) {
                attempt.rolledBack();
                storeFailure(attempt.call(), attempt, failure);
            }
            throw failure;
        }
        TransactionalAttempt attempt = late.attempt();
        if (attempt == null || !attempt.ran()) {
            return late.inTheWay();
        }
        return afterTransaction(attempt.call(), attempt);
    }

    private static void rolledBack(@Nullable TransactionalAttempt attempt) {
        if (attempt != null) {
            attempt.rolledBack();
        }
    }

    // The work cannot begin again here, so that waiting is for a result, not for the key.
    private Completion afterLateClaim(TransactionalAttempt attempt, ClaimResult inTheWay) {
        Call call = attempt.call();
        ClaimResult found = inTheWay instanceof ClaimResult.Contended ? look(call) : inTheWay;
        try (Waiters.Waiting waiting = waiters.until(call.id(), call.settings().waitAtMost())) {
            while (true) {
                Completion replayed = replayedOrWaitedFor(attempt, found, waiting);
                if (replayed != null) {
                    return replayed;
                }
                found = look(call);
            }
        }
    }

    static void refuseReadOnly(Call call, BusinessTransactions transactions) {
        if (transactions.isOpenReadOnly()) {
            throw new IllegalStateException("Operation " + call.operation()
                    + " is EXACTLY_ONCE and was called in a read-only transaction, in which its result cannot"
                    + " be recorded");
        }
    }

    private Completion inOpenTransaction(Call call, Work work, BusinessTransactions transactions) throws Throwable {
        refuseReadOnly(call, transactions);
        BusinessTransactions.Handle transaction = transactions.open();
        TransactionalAttempt attempt = newAttempt(call, work.resultInAdvance());
        ClaimResult found = claimInOpen(attempt, transaction);
        if (canTakeOver(call, found, attempt)) {
            found = claimInOpen(attempt, transaction);
        }
        if (found instanceof ClaimResult.Claimed claimed) {
            return attempt.runInOpen(work, claimed, transaction, transactions, judge);
        }
        Verdict verdict = judge.judge(call, found);
        if (verdict instanceof Verdict.Replay replay) {
            return replay.completion();
        }
        if (verdict instanceof Verdict.Refused refused) {
            throw refused.refusal();
        }
        throw verdict instanceof Verdict.Busy busy
                ? busy.refusal()
                : judge.busy(call, null).refusal();
    }

    // The database has rolled it back already. Whoever swallows the exception must not commit what comes after it.
    private ClaimResult claimInOpen(TransactionalAttempt attempt, BusinessTransactions.Handle transaction) {
        try {
            return attempt.claimInOpen();
        } catch (TransactionConflictException conflict) {
            transaction.setRollbackOnly();
            throw conflict;
        }
    }
}
