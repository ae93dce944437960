package io.idempotency.test;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.Lease;
import io.idempotency.spi.PurgeableStore;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionalStore;
import io.idempotency.spi.WriteOutcome;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The smallest thing that takes part in transactions: shows that the contract can be satisfied. A claim holds its key until its
 * transaction ends; results and business rows are written at commit. With a flaw it shows what the contract finds.
 */
final class InMemoryTransactions implements TransactionalStoreFixture, TransactionalStore, PurgeableStore {

    static final Duration LOCK_WAIT = Duration.ofMillis(200);

    private final @Nullable TransactionFlaw flaw;
    private final MutableClock clock = new MutableClock();
    private final InMemoryIdempotencyStore records =
            new InMemoryIdempotencyStore(clock::nanoTime, Clock.systemUTC(), 10_000, 64_000_000);
    private final ThreadLocal<RunningTransaction> current = new ThreadLocal<>();
    private final Map<RecordId, RunningTransaction> holders = new HashMap<>();
    private final List<String> rows = new ArrayList<>();
    private final Set<RecordId> everDone = new HashSet<>();

    InMemoryTransactions() {
        this(null);
    }

    InMemoryTransactions(@Nullable TransactionFlaw flaw) {
        this.flaw = flaw;
    }

    @Override
    public TransactionalStore store() {
        return this;
    }

    @Override
    public void advance(Duration time) {
        clock.advance(time);
    }

    @Override
    public void close() {}

    @Override
    public <R> R inTransaction(Opening opening, Work<R> work) throws Exception {
        RunningTransaction transaction = new RunningTransaction();
        current.set(transaction);
        boolean committed = false;
        try {
            R answer = work.run(() -> transaction.rollbackOnly = true);
            committed = !transaction.rollbackOnly;
            return answer;
        } finally {
            current.remove();
            end(transaction, committed);
            if (committed) {
                transaction.afterCommit.forEach(Runnable::run);
            }
        }
    }

    /** Does something after the transaction of the calling thread, if it is committed. */
    void afterCommit(Runnable work) {
        running().afterCommit.add(work);
    }

    MutableClock clock() {
        return clock;
    }

    private synchronized void end(RunningTransaction transaction, boolean committed) {
        if (committed || flaw != TransactionFlaw.ROLLBACK_KEEPS_THE_KEY) {
            holders.values().removeIf(holder -> holder == transaction);
        }
        if (committed) {
            rows.addAll(transaction.rows);
            transaction.writes.values().forEach(Runnable::run);
        }
    }

    @Override
    public void addBusinessRow(String text) {
        running().rows.add(text);
    }

    @Override
    public synchronized long businessRows(String text) {
        return rows.stream().filter(text::equals).count();
    }

    @Override
    public boolean forceResult(RecordId id, StoredResult result) {
        return records.recordDone(ClaimRequests.request(id), result) instanceof ClaimResult.Claimed;
    }

    @Override
    public String name() {
        return "in-memory transactions";
    }

    @Override
    public Optional<ClaimResult> beforeTransaction(ClaimRequest request, boolean serializable) {
        return Optional.empty();
    }

    @Override
    public ClaimResult claimInTransaction(ClaimRequest request, boolean serializable) {
        return claimInOpenTransaction(request);
    }

    @Override
    public ClaimResult claimInOpenTransaction(ClaimRequest request) {
        if (flaw == TransactionFlaw.CLAIM_NEEDS_NO_TRANSACTION && current.get() == null) {
            return new ClaimResult.Claimed(new Lease(request, 1), false);
        }
        RunningTransaction transaction = running();
        if (flaw == TransactionFlaw.CLAIM_WAITS) {
            waitForOthers(request.id(), transaction);
        }
        ClaimResult answer = claim(request, transaction);
        if (flaw == TransactionFlaw.REFUSAL_MARKS_FOR_ROLLBACK && !(answer instanceof ClaimResult.Claimed)) {
            transaction.rollbackOnly = true;
        }
        return answer;
    }

    @Override
    public ClaimResult recordDoneInTransaction(ClaimRequest request, StoredResult result, boolean serializable) {
        return flaw == TransactionFlaw.KNOWN_RESULT_IS_FORGOTTEN
                ? claimInTransaction(request, serializable)
                : TransactionalStore.super.recordDoneInTransaction(request, result, serializable);
    }

    @Override
    public ClaimResult recordDoneInOpenTransaction(ClaimRequest request, StoredResult result) {
        return flaw == TransactionFlaw.KNOWN_RESULT_IS_FORGOTTEN
                ? claimInOpenTransaction(request)
                : TransactionalStore.super.recordDoneInOpenTransaction(request, result);
    }

    private void waitForOthers(RecordId id, @Nullable RunningTransaction self) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < LOCK_WAIT.toNanos()) {
            synchronized (this) {
                if (holders.getOrDefault(id, self) == self) {
                    return;
                }
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    private synchronized ClaimResult claim(ClaimRequest request, RunningTransaction transaction) {
        Optional<IdempotencyRecord> found = records.find(request.id());
        if (found.isPresent() && found.get().done()) {
            return found.get().asClaimResult();
        }
        if (holders.getOrDefault(request.id(), transaction) != transaction) {
            return new ClaimResult.Contended();
        }
        boolean takeover = found.isPresent()
                && found.get().abandoned()
                && (flaw == TransactionFlaw.TAKEOVER_WITHOUT_A_NAME
                        || Objects.equals(request.takeOverFrom(), found.get().owner()));
        if (found.isPresent() && !takeover) {
            return found.get().asClaimResult();
        }
        if (flaw != TransactionFlaw.CLAIM_HOLDS_NOTHING) {
            holders.put(request.id(), transaction);
        }
        return new ClaimResult.Claimed(new Lease(request, takeover ? found.get().token() + 1 : 1), takeover);
    }

    @Override
    public synchronized WriteOutcome completeInTransaction(Lease lease, StoredResult result, Duration retention) {
        RunningTransaction transaction = running();
        if (records.find(lease.id())
                        .filter(found -> found.done() || lease.owner().equals(found.owner()))
                        .isPresent()
                && flaw != TransactionFlaw.COMPLETION_DOES_NOT_LOOK) {
            return WriteOutcome.LOST;
        }
        if (flaw == TransactionFlaw.KNOWN_RESULT_IS_FINAL && transaction.writes.containsKey(lease.id())) {
            return WriteOutcome.APPLIED;
        }
        if (flaw == TransactionFlaw.EXPIRED_RESULT_BLOCKS_UNTIL_PURGED && everDone.contains(lease.id())) {
            return WriteOutcome.LOST;
        }
        ClaimRequest claim = lease.request();
        ClaimRequest write = new ClaimRequest(
                claim.id(),
                claim.operation(),
                claim.guarantee(),
                claim.owner(),
                claim.fingerprint(),
                claim.lease(),
                retention,
                claim.takeOverFrom());
        if (flaw == TransactionFlaw.RESULT_IS_WRITTEN_AT_ONCE) {
            records.recordDone(write, result);
        } else {
            transaction.writes.put(lease.id(), () -> records.recordDone(write, result));
        }
        return WriteOutcome.APPLIED;
    }

    @Override
    public synchronized void afterRollback(Lease lease) {
        if (flaw == TransactionFlaw.ROLLBACK_KEEPS_THE_KEY) {
            holders.remove(lease.id());
        }
    }

    @Override
    public CommitProbe probe(Lease lease) {
        if (flaw == TransactionFlaw.PROBE_GUESSES) {
            return records.find(lease.id()).isPresent() ? CommitProbe.COMMITTED : CommitProbe.ROLLED_BACK;
        }
        long start = System.nanoTime();
        while (System.nanoTime() - start < LOCK_WAIT.toNanos()) {
            synchronized (this) {
                if (!holders.containsKey(lease.id())) {
                    return records.find(lease.id())
                                    .filter(record ->
                                            record.done() && lease.owner().equals(record.owner()))
                                    .isPresent()
                            ? CommitProbe.COMMITTED
                            : CommitProbe.ROLLED_BACK;
                }
            }
            LockSupport.parkNanos(1_000_000);
        }
        return CommitProbe.UNKNOWN;
    }

    @Override
    public synchronized ClaimResult tryClaim(ClaimRequest request) {
        return flaw == TransactionFlaw.LEASED_CLAIM_SEES_NO_TRANSACTION
                ? records.tryClaim(request)
                : inProgress(request.id()).orElseGet(() -> records.tryClaim(request));
    }

    @Override
    public synchronized ClaimResult recordDone(ClaimRequest request, StoredResult result) {
        return flaw == TransactionFlaw.RECORD_DONE_SEES_NO_TRANSACTION
                ? records.recordDone(request, result)
                : inProgress(request.id()).orElseGet(() -> records.recordDone(request, result));
    }

    private Optional<ClaimResult> inProgress(RecordId id) {
        return holders.containsKey(id)
                        && records.find(id).filter(IdempotencyRecord::done).isEmpty()
                ? Optional.of(new ClaimResult.InProgress(Fingerprint.NONE, null))
                : Optional.empty();
    }

    @Override
    public synchronized WriteOutcome complete(Lease lease, StoredResult result, Duration retention) {
        if (flaw != TransactionFlaw.ZOMBIE_COMPLETES_DURING_A_TAKEOVER) {
            refuseWhileHeld(lease.id());
        }
        everDone.add(lease.id());
        return records.complete(lease, result, retention);
    }

    @Override
    public synchronized WriteOutcome release(Lease lease) {
        refuseWhileHeld(lease.id());
        return records.release(lease);
    }

    @Override
    public synchronized WriteOutcome renew(Lease lease) {
        refuseWhileHeld(lease.id());
        return records.renew(lease);
    }

    @Override
    public Optional<IdempotencyRecord> find(RecordId id) {
        return records.find(id);
    }

    @Override
    public boolean forget(RecordId id) {
        if (flaw == TransactionFlaw.FORGET_WAITS) {
            waitForOthers(id, null);
        }
        synchronized (this) {
            refuseWhileHeld(id);
            return records.forget(id);
        }
    }

    @Override
    public synchronized int purgeExpired(int batchSize) {
        everDone.clear();
        if (flaw == TransactionFlaw.PURGE_FORGETS_WHO_HOLDS) {
            holders.clear();
        }
        return records.purgeExpired(batchSize);
    }

    private void refuseWhileHeld(RecordId id) {
        if (holders.containsKey(id)) {
            throw new StoreUnavailableException("A transaction holds the record", null);
        }
    }

    private RunningTransaction running() {
        RunningTransaction transaction = current.get();
        if (transaction == null) {
            throw new IllegalStateException("No transaction is open on this thread");
        }
        return transaction;
    }

    private static final class RunningTransaction {

        private final List<String> rows = new ArrayList<>();
        private final Map<RecordId, Runnable> writes = new HashMap<>();
        private final List<Runnable> afterCommit = new ArrayList<>();
        private boolean rollbackOnly;
    }
}
