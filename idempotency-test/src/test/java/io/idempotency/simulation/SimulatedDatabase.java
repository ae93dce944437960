package io.idempotency.simulation;

import io.idempotency.Guarantee;
import io.idempotency.StoreUnavailableException;
import io.idempotency.simulation.Network.Fault;
import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.CommitFailedException;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionConflictException;
import io.idempotency.spi.TransactionalStore;
import io.idempotency.spi.WriteOutcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A database with records and a ledger, and its transactions. What is claimed in a transaction is visible when it commits; a session
 * whose process died, or whose connection broke, is noticed some time later.
 */
final class SimulatedDatabase implements TransactionalStore, BusinessTransactions {

    private static final long NOTICED_WITHIN = Duration.ofSeconds(20).toNanos();
    private static final long LOCK_POLL = Duration.ofMillis(200).toNanos();
    private static final int POLLS_OF_A_PROBE = 25;

    private final Claiming claiming;
    private final Weakness weakness;
    private final Fibers fibers;
    private final Chance chance;
    private final Network network;
    private final History history;
    private final Map<RecordId, Row> rows = new HashMap<>();
    private final Set<RecordId> placeholders = new HashSet<>();
    private final List<Session> sessions = new ArrayList<>();
    private final ThreadLocal<@Nullable Session> current = new ThreadLocal<>();

    SimulatedDatabase(
            Claiming claiming, Weakness weakness, Fibers fibers, Chance chance, Network network, History history) {
        this.claiming = claiming;
        this.weakness = weakness;
        this.fibers = fibers;
        this.chance = chance;
        this.network = network;
        this.history = history;
    }

    /** How a claim keeps others away. */
    enum Claiming {
        /** A lock of the key, taken before the row is read. */
        BY_LOCK,
        /** Nothing but the unique index under the last statement. */
        BY_UNIQUE_INDEX,
        /** A committed row that is locked. */
        BY_PLACEHOLDER
    }

    private record Row(Owner owner, Fingerprint fingerprint, StoredResult result) {

        ClaimResult asDone() {
            return new ClaimResult.Done(fingerprint, owner, result, Duration.ofHours(1));
        }
    }

    /** The sessions of a dead process hold their locks until somebody notices. */
    void died(Host host) {
        List.copyOf(sessions).stream().filter(session -> session.host == host).forEach(this::lose);
    }

    private void lose(Session session) {
        fibers.after(chance.upTo(NOTICED_WITHIN), session::rollBack);
    }

    /** Writes an effect in the transaction of the calling thread. */
    void insert(Effect effect) {
        Session session = running();
        network.step();
        if (network.fault() == Fault.NONE && !session.ended) {
            session.effects.add(effect);
            network.step();
            return;
        }
        lose(session);
        throw new IllegalArgumentException("The connection broke under the work");
    }

    // Transactions

    @Override
    public boolean isOpen() {
        return current.get() != null;
    }

    @Override
    public boolean isOpenReadOnly() {
        return false;
    }

    @Override
    public boolean serializable() {
        return false;
    }

    @Override
    public boolean rollsBackOn(Throwable failure) {
        return !(failure instanceof Notice);
    }

    @Override
    public Handle open() {
        return running();
    }

    @Override
    public <R extends @Nullable Object> R inNew(Work<R> work) throws Throwable {
        network.step();
        if (network.fault() != Fault.NONE) {
            throw new StoreUnavailableException("No connection", null);
        }
        Session session = new Session(network.here());
        sessions.add(session);
        current.set(session);
        R result;
        try {
            result = work.run(session);
        } catch (Throwable failure) {
            rollBack(session);
            throw failure;
        } finally {
            current.remove();
        }
        if (session.rollbackOnly) {
            rollBack(session);
        } else {
            commit(session);
        }
        return result;
    }

    private void rollBack(Session session) {
        network.step();
        if (network.fault() == Fault.NONE) {
            session.rollBack();
        } else {
            lose(session);
        }
    }

    private void commit(Session session) {
        network.step();
        Fault fault = session.ended ? Fault.LOST : network.fault();
        history.note(
                () -> session.host.name + " commits " + session.effects + (fault == Fault.NONE ? "" : ": " + fault));
        switch (fault) {
            case NONE -> session.commit();
            case TWICE -> {
                boolean conflict = chance.in(0.5);
                session.rollBack();
                throw commitFailed(
                        conflict ? CommitFailedException.Kind.CONFLICT : CommitFailedException.Kind.ROLLED_BACK);
            }
            case LOST -> {
                lose(session);
                throw commitFailed(CommitFailedException.Kind.UNKNOWN);
            }
            case REPLY_LOST -> {
                session.commit();
                network.step();
                throw commitFailed(CommitFailedException.Kind.UNKNOWN);
            }
            case LATE -> {
                fibers.after(chance.upTo(NOTICED_WITHIN), session::commit);
                throw commitFailed(CommitFailedException.Kind.UNKNOWN);
            }
        }
        network.step();
    }

    private static CommitFailedException commitFailed(CommitFailedException.Kind kind) {
        return new CommitFailedException(kind, new IllegalArgumentException("The commit failed: " + kind));
    }

    private Session running() {
        Session session = current.get();
        if (session == null) {
            throw new IllegalStateException("No transaction is open on this thread");
        }
        return session;
    }

    // The store

    @Override
    public String name() {
        return "simulated";
    }

    @Override
    public Optional<ClaimResult> beforeTransaction(ClaimRequest request, boolean serializable) {
        if (claiming != Claiming.BY_PLACEHOLDER) {
            return Optional.empty();
        }
        return network.send("look before", history.keyOf(request.id()), () -> {
            Row row = rows.get(request.id());
            if (row == null) {
                placeholders.add(request.id());
            }
            return Optional.ofNullable(row).map(Row::asDone);
        });
    }

    @Override
    public ClaimResult claimInTransaction(ClaimRequest request, boolean serializable) {
        return claim(request, null, claiming == Claiming.BY_PLACEHOLDER);
    }

    @Override
    public ClaimResult recordDoneInTransaction(ClaimRequest request, StoredResult result, boolean serializable) {
        return claim(request, result, claiming == Claiming.BY_PLACEHOLDER);
    }

    @Override
    public ClaimResult claimInOpenTransaction(ClaimRequest request) {
        return claim(request, null, false);
    }

    @Override
    public ClaimResult recordDoneInOpenTransaction(ClaimRequest request, StoredResult result) {
        return claim(request, result, false);
    }

    private ClaimResult claim(ClaimRequest request, @Nullable StoredResult result, boolean needsPlaceholder) {
        Session session = statement("claim", request.id());
        Row row = rows.get(request.id());
        ClaimResult answer;
        if (row != null) {
            answer = row.asDone();
        } else if (heldByAnother(request.id(), session) || needsPlaceholder && !placeholders.contains(request.id())) {
            answer = new ClaimResult.Contended();
        } else {
            session.claimed.add(request.id());
            if (result != null) {
                session.written.put(request.id(), new Row(request.owner(), request.fingerprint(), result));
            }
            answer = new ClaimResult.Claimed(new Lease(request, 1), false);
        }
        network.step();
        return answer;
    }

    private boolean heldByAnother(RecordId id, @Nullable Session session) {
        return sessions.stream()
                .anyMatch(other -> other != session
                        && (claiming == Claiming.BY_UNIQUE_INDEX
                                ? other.written.containsKey(id)
                                : other.claimed.contains(id)));
    }

    @Override
    public WriteOutcome completeInTransaction(Lease lease, StoredResult result, Duration retention) {
        Session session = statement("complete", lease.id());
        while (heldByAnother(lease.id(), session)) {
            network.step();
            fibers.suspend(LOCK_POLL);
        }
        if (session.ended) {
            throw new StoreUnavailableException("The session is gone", null);
        }
        boolean beaten = rows.containsKey(lease.id()) && weakness != Weakness.LAST_STATEMENT_DOES_NOT_LOOK;
        WriteOutcome outcome = beaten ? WriteOutcome.LOST : WriteOutcome.APPLIED;
        if (outcome == WriteOutcome.APPLIED) {
            session.written.put(
                    lease.id(), new Row(lease.owner(), lease.request().fingerprint(), result));
        } else if (chance.in(0.3)) {
            session.rollBack();
            throw new TransactionConflictException("Serialization failure", new IllegalArgumentException());
        }
        network.step();
        return outcome;
    }

    private Session statement(String name, RecordId id) {
        Session session = running();
        network.step();
        Fault fault = network.fault();
        history.note(() -> session.host.name + " " + name + " " + history.keyOf(id) + " in its transaction"
                + (fault == Fault.NONE ? "" : ": " + fault));
        if (fault == Fault.TWICE) {
            session.rollBack();
            throw new TransactionConflictException("Deadlock", new IllegalArgumentException());
        }
        if (fault != Fault.NONE || session.ended) {
            lose(session);
            throw new StoreUnavailableException("The connection broke", null);
        }
        return session;
    }

    @Override
    public void afterRollback(Lease lease) {
        network.step();
        if (network.fault() == Fault.NONE && !heldByAnother(lease.id(), null)) {
            placeholders.remove(lease.id());
        }
    }

    @Override
    public CommitProbe probe(Lease lease) {
        if (weakness == Weakness.PROBE_GUESSES) {
            return CommitProbe.COMMITTED;
        }
        for (int i = 0; i < POLLS_OF_A_PROBE; i++) {
            network.step();
            if (network.fault() != Fault.NONE) {
                return CommitProbe.UNKNOWN;
            }
            if (sessions.stream().noneMatch(session -> session.claimed.contains(lease.id()))) {
                Row row = rows.get(lease.id());
                return row != null && row.owner.equals(lease.owner()) ? CommitProbe.COMMITTED : CommitProbe.ROLLED_BACK;
            }
            fibers.suspend(LOCK_POLL);
        }
        return CommitProbe.UNKNOWN;
    }

    @Override
    public ClaimResult recordDone(ClaimRequest request, StoredResult result) {
        return network.send("record done", history.keyOf(request.id()), () -> {
            Row row = rows.get(request.id());
            if (row != null && !row.owner.equals(request.owner())) {
                return row.asDone();
            }
            if (heldByAnother(request.id(), null)) {
                return new ClaimResult.InProgress(Fingerprint.NONE, null);
            }
            placeholders.remove(request.id());
            rows.putIfAbsent(request.id(), new Row(request.owner(), request.fingerprint(), result));
            return new ClaimResult.Claimed(new Lease(request, 1), false);
        });
    }

    @Override
    public Optional<IdempotencyRecord> find(RecordId id) {
        return network.send("find", history.keyOf(id), () -> {
            Row row = rows.get(id);
            return row == null && !placeholders.contains(id) ? Optional.empty() : Optional.of(record(id, row));
        });
    }

    private static IdempotencyRecord record(RecordId id, @Nullable Row row) {
        return new IdempotencyRecord(
                id,
                "simulated",
                Guarantee.EXACTLY_ONCE,
                row != null,
                row == null ? Fingerprint.NONE : row.fingerprint,
                row == null ? null : row.owner,
                1,
                Instant.EPOCH,
                row == null ? null : Instant.EPOCH,
                null,
                Duration.ofHours(1),
                row == null ? null : row.result,
                null);
    }

    @Override
    public ClaimResult tryClaim(ClaimRequest request) {
        throw new IllegalStateException("No lease under EXACTLY_ONCE");
    }

    @Override
    public WriteOutcome complete(Lease lease, StoredResult result, Duration retention) {
        throw new IllegalStateException("No lease under EXACTLY_ONCE");
    }

    @Override
    public WriteOutcome release(Lease lease) {
        throw new IllegalStateException("No lease under EXACTLY_ONCE");
    }

    @Override
    public WriteOutcome renew(Lease lease) {
        throw new IllegalStateException("No lease under EXACTLY_ONCE");
    }

    @Override
    public boolean forget(RecordId id) {
        throw new IllegalStateException("No operator is here");
    }

    /** What the rollback rules commit on. */
    static final class Notice extends Exception {

        private static final long serialVersionUID = 1L;

        Notice(String message) {
            super(message);
        }
    }

    private final class Session implements Handle {

        private final Host host;
        private final Set<RecordId> claimed = new HashSet<>();
        private final Map<RecordId, Row> written = new HashMap<>();
        private final List<Effect> effects = new ArrayList<>();
        private boolean rollbackOnly;
        private boolean ended;

        private Session(Host host) {
            this.host = host;
        }

        private void commit() {
            if (end()) {
                effects.forEach(history::effect);
                rows.putAll(written);
                written.keySet().forEach(placeholders::remove);
            }
        }

        private void rollBack() {
            end();
        }

        private boolean end() {
            boolean first = !ended;
            ended = true;
            sessions.remove(this);
            return first;
        }

        @Override
        public boolean isRollbackOnly() {
            return rollbackOnly;
        }

        @Override
        public void setRollbackOnly() {
            rollbackOnly = true;
        }

        @Override
        public @Nullable String workOutside() {
            return null;
        }
    }
}
