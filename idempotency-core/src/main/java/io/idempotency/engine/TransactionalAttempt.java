package io.idempotency.engine;

import io.idempotency.IdempotencyContext;
import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.OutcomePolicy.Disposition;
import io.idempotency.spi.Owner;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionalStore;
import io.idempotency.spi.WriteOutcome;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One attempt in a transaction, from its claim to what is known after the transaction has ended. */
final class TransactionalAttempt implements Attempt {

    private static final Logger log = LoggerFactory.getLogger(TransactionalAttempt.class);

    private static final long LATE_BY_ONE_IN = 1000;

    private final Call call;
    private final TransactionalStore store;
    private final EngineRuntime runtime;
    private final SafeListener listener;
    private final Results results;
    private final RunningCalls running;
    private final @Nullable StoredResult resultInAdvance;
    private ClaimRequest request;
    private long claimedAt;
    private BusinessTransactions.@Nullable Handle transaction;
    private @Nullable BusinessTransactions transactions;
    private @Nullable Lease lease;
    private @Nullable IdempotencyContext context;
    private @Nullable StoredResult standsAfterRollback;
    private @Nullable Throwable thrown;
    private boolean failureCommitted;
    private boolean rolledBack;
    private boolean outdone;
    private @Nullable Completion completion;

    TransactionalAttempt(
            Call call,
            @Nullable StoredResult resultInAdvance,
            TransactionalStore store,
            EngineRuntime runtime,
            SafeListener listener,
            Results results,
            RunningCalls running) {
        this.call = call;
        this.resultInAdvance = resultInAdvance;
        this.request = call.claimBy(runtime.newOwner());
        this.store = store;
        this.runtime = runtime;
        this.listener = listener;
        this.results = results;
        this.running = running;
    }

    Call call() {
        return call;
    }

    ClaimRequest request() {
        return request;
    }

    void takeOverFrom(Owner seen) {
        request = request.takingOverFrom(seen);
    }

    /** Claims the key in a transaction of the library. */
    ClaimResult claim(boolean serializable) {
        claimedAt = runtime.nanoTime();
        return resultInAdvance == null
                ? store.claimInTransaction(request, serializable)
                : store.recordDoneInTransaction(request, results.seal(resultInAdvance), serializable);
    }

    /** Claims the key in a transaction of the application. */
    ClaimResult claimInOpen() {
        claimedAt = runtime.nanoTime();
        return resultInAdvance == null
                ? store.claimInOpenTransaction(request)
                : store.recordDoneInOpenTransaction(request, results.seal(resultInAdvance));
    }

    Lease lease() {
        return Objects.requireNonNull(lease);
    }

    /** Whether the key was claimed, so that the work was begun. */
    boolean ran() {
        return lease != null;
    }

    boolean threw(Throwable failure) {
        return thrown == failure;
    }

    boolean isRolledBack() {
        return rolledBack;
    }

    /** Whether another attempt's record was there when the result was to be stored. */
    boolean isOutdone() {
        return outdone;
    }

    @Nullable
    StoredResult standsAfterRollback() {
        return standsAfterRollback;
    }

    void ended(Completion ended) {
        completion = ended;
    }

    Completion completion() {
        return completion != null ? completion : new Completion.Executed(!rolledBack, rolledBack);
    }

    /** The transaction is gone: lets the store tidy up. */
    void rolledBack() {
        rolledBack = true;
        if (lease != null) {
            store.afterRollback(lease);
        }
    }

    void rethrowCommittedFailure() throws Throwable {
        if (failureCommitted && thrown != null) {
            throw thrown;
        }
    }

    /** Runs the work in a transaction that the library has opened and will end. */
    void run(
            Work work,
            ClaimResult.Claimed claimed,
            BusinessTransactions.Handle openTransaction,
            BusinessTransactions ofOperation)
            throws Throwable {
        begin(claimed, openTransaction, ofOperation);
        Finish finish;
        try {
            finish = running.run(call, this, work);
        } catch (Throwable failure) {
            failed(failure, openTransaction, ofOperation);
            return;
        }
        finished(finish, openTransaction);
    }

    void begin(
            ClaimResult.Claimed claimed,
            BusinessTransactions.Handle openTransaction,
            BusinessTransactions ofOperation) {
        transaction = openTransaction;
        transactions = ofOperation;
        lease = claimed.lease();
        context = new AttemptContext(call, claimed.lease(), claimed.takeover(), () -> false, null);
        if (claimed.takeover()) {
            listener.onTakeover(call.operation(), call.id(), claimed.lease().token());
        }
    }

    /** The work has thrown. Passes it on, unless it is committed as the result. */
    void failed(Throwable failure, BusinessTransactions.Handle openTransaction, BusinessTransactions ofOperation)
            throws Throwable {
        thrown = failure;
        if (!storeInCommit(failure, openTransaction, ofOperation)) {
            throw failure;
        }
    }

    /** The work has returned. */
    void finished(Finish finish, BusinessTransactions.Handle openTransaction) {
        if (!(finish instanceof Finish.Store stored)) {
            rollBack(openTransaction);
            return;
        }
        reportWorkOutside(openTransaction);
        if (openTransaction.isRollbackOnly()) {
            rollBack(openTransaction);
            standsAfterRollback = stored.standsAfterRollback() ? stored.result() : null;
            return;
        }
        if (isRecorded(stored.result())) {
            return;
        }
        if (complete(stored.result()) == WriteOutcome.LOST) {
            outdone = true;
            rollBack(openTransaction);
        }
    }

    // The retention of what was stored with the claim began there, which is near enough to its completion for most
    // work.
    private boolean isRecorded(StoredResult result) {
        return resultInAdvance != null
                && result.equals(resultInAdvance)
                && (runtime.nanoTime() - claimedAt)
                        <= call.settings().retention().toNanos() / LATE_BY_ONE_IN;
    }

    /** Runs the work in a transaction that the application has opened and will end. */
    Completion runInOpen(
            Work work,
            ClaimResult.Claimed claimed,
            BusinessTransactions.Handle openTransaction,
            BusinessTransactions ofOperation,
            Judge judge)
            throws Throwable {
        try {
            run(work, claimed, openTransaction, ofOperation);
        } catch (Throwable failure) {
            openTransaction.setRollbackOnly();
            throw failure;
        }
        rethrowCommittedFailure();
        if (outdone) {
            throw judge.busy(call, null).refusal();
        }
        return completion();
    }

    private void rollBack(BusinessTransactions.Handle openTransaction) {
        openTransaction.setRollbackOnly();
        rolledBack = true;
    }

    private WriteOutcome complete(StoredResult result) {
        WriteOutcome outcome = store.completeInTransaction(
                lease(), results.seal(result), call.settings().retention());
        if (outcome == WriteOutcome.LOST) {
            listener.onConflict(call.operation(), call.id());
        }
        return outcome;
    }

    // The rollback rules want a commit, so the failure is the result. If it cannot be stored, nothing may be committed.
    private boolean storeInCommit(
            Throwable failure, BusinessTransactions.Handle openTransaction, BusinessTransactions ofOperation) {
        if (ofOperation.rollsBackOn(failure) || openTransaction.isRollbackOnly()) {
            return false;
        }
        try {
            failureCommitted = complete(FailureFormat.write(failure)) == WriteOutcome.APPLIED;
            return failureCommitted;
        } catch (RuntimeException ours) {
            failure.addSuppressed(ours);
            return false;
        }
    }

    private void reportWorkOutside(BusinessTransactions.Handle openTransaction) {
        String outside = openTransaction.workOutside();
        if (outside == null) {
            return;
        }
        listener.onWorkOutsideTransaction(call.operation(), outside);
        if (call.settings().failOnWorkOutside()) {
            throw new IllegalStateException("Operation " + call.operation() + " is EXACTLY_ONCE, but " + outside
                    + " ran outside of its transaction; let it join, or choose another guarantee");
        }
        log.debug("Work of operation {} ran outside of its transaction: {}", call.operation(), outside);
    }

    @Override
    public @Nullable IdempotencyContext context() {
        return context;
    }

    @Override
    public boolean transactional() {
        return true;
    }

    @Override
    public boolean rollbackOnly() {
        return transaction != null && transaction.isRollbackOnly();
    }

    @Override
    public Disposition judge(Throwable failure) {
        if (transactions != null && !transactions.rollsBackOn(failure)) {
            return Disposition.STORE;
        }
        if (transaction != null) {
            transaction.setRollbackOnly();
        }
        return call.settings().outcomePolicy().onThrow(failure, call.settings().guarantee());
    }
}
