package io.idempotency.jdbc;

import io.idempotency.StoreUnavailableException;
import io.idempotency.jdbc.Dialect.Found;
import io.idempotency.jdbc.Dialect.Purged;
import io.idempotency.jdbc.Dialect.Unresolved;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.Lease;
import io.idempotency.spi.PurgeableStore;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionalStore;
import io.idempotency.spi.WriteOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Keeps records in a table of the application's database: PostgreSQL 12 or later, MariaDB 10.6 or later, MySQL 8.0 or later, H2
 * 2.3.232 or later.
 *
 * <p>Claims with a lease and everything else that has to be visible at once use connections of their own, also inside an open
 * transaction, and give them back unchanged. The methods named {@code …InTransaction} use the connection of the transaction that
 * Spring has bound to the thread. No statement waits for another attempt, and every one ends within the query timeout.
 *
 * <p>The database is looked at on first use, not when the store is built. Until then it is allowed to be unreachable.
 *
 * @since 0.1.0
 */
public final class JdbcIdempotencyStore implements TransactionalStore, PurgeableStore {

    private static final Logger log = LoggerFactory.getLogger(JdbcIdempotencyStore.class);

    /** How often a statement of our own is sent again that the database has refused in favour of another one. */
    private static final int SENDINGS = 5;

    /** How often a record is looked at that changes under our eyes. */
    private static final int LOOKS = 3;

    /** For how long a record is asked for again that somebody has locked, and should not keep locked: a purge, for example. */
    private static final Duration PATIENCE = Duration.ofMillis(200);

    private static final Duration PAUSE = Duration.ofMillis(5);

    private final DataSource dataSource;
    private final Connections connections;
    private final TableName table;
    private final @Nullable TableName archive;
    private final ClaimMode claimMode;
    private final Set<String> warnedOperations = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Database database;

    private JdbcIdempotencyStore(Builder builder) {
        this.dataSource = builder.dataSource;
        this.connections = new Connections(builder.dataSource, builder.queryTimeout);
        this.table = builder.tableName;
        this.archive = builder.archiveTableName;
        this.claimMode = builder.claimMode;
    }

    /** A store on a data source of the application: for EXACTLY_ONCE, the one of its business transactions. */
    public static Builder builder(DataSource dataSource) {
        return new Builder(Objects.requireNonNull(dataSource, "dataSource"));
    }

    /** Where its table is. */
    public DataSource dataSource() {
        return dataSource;
    }

    /** What concerns its tables: creating them, and checks to be made at start. */
    public JdbcSchema schema() {
        return new JdbcSchema(this, table, archive);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Without the product and its version as long as the database could not be reached.
     */
    @Override
    public String name() {
        Database known = database;
        return known == null ? "jdbc" : "jdbc(" + known.dialect().name() + ")";
    }

    @Override
    public ClaimResult tryClaim(ClaimRequest request) {
        warnInsideTransaction(request.operation());
        return own(
                task("The claim", request),
                (dialect, session) -> claim(dialect, session, request, Entry.leased(request)));
    }

    @Override
    public ClaimResult recordDone(ClaimRequest request, StoredResult result) {
        Entry done = Entry.done(request, result, request.retention());
        return own(task("Storing the result", request), (dialect, session) -> claim(dialect, session, request, done));
    }

    private static ClaimResult claim(Dialect dialect, Session session, ClaimRequest request, Entry entry)
            throws SQLException {
        long start = System.nanoTime();
        for (int look = 1; ; look++) {
            Found found = dialect.insertOrRead(session, request.id(), entry);
            if (found.inserted()) {
                return Row.claimed(request, 1);
            }
            if (found.held()) {
                return Row.HELD;
            }
            Row row = found.row();
            ClaimResult answer = row == null ? null : row.answerTo(request);
            if (answer instanceof ClaimResult.Claimed own && entry.isDone()) {
                answer = dialect.complete(session, own.lease(), entry) ? answer : null;
            } else if (row != null && answer == null) {
                OptionalLong token = dialect.take(session, request, entry);
                answer = token.isPresent() ? Row.claimed(request, token.getAsLong()) : null;
            }
            if (answer != null) {
                return answer;
            }
            boolean locked = row != null && row.expired() && isSoon(start);
            if (!locked && look >= LOOKS) {
                return Row.HELD;
            }
            if (locked) {
                Pause.of(PAUSE);
            }
        }
    }

    private static boolean isSoon(long start) {
        return System.nanoTime() - start < PATIENCE.toNanos();
    }

    // A second connection inside a transaction can exhaust a small pool: every thread then holds one and waits for
    // another.
    private void warnInsideTransaction(String operation) {
        if (TransactionSynchronizationManager.isActualTransactionActive() && warnedOperations.add(operation)) {
            log.warn(
                    "Operation {} claims its key with a lease inside an open transaction, on a second connection: the claim does"
                            + " not roll back with the transaction, and a small connection pool can run dry",
                    operation);
        }
    }

    @Override
    public WriteOutcome complete(Lease lease, StoredResult result, Duration retention) {
        Entry done = Entry.done(lease.request(), result, retention);
        return ownerWrite("Storing the result", lease, (dialect, session) -> {
            if (dialect.complete(session, lease, done)) {
                return true;
            }
            Row row = dialect.read(session, lease.id());
            return row != null && !row.expired() && row.doneBy(lease.owner());
        });
    }

    @Override
    public WriteOutcome release(Lease lease) {
        return ownerWrite("The release", lease, (dialect, session) -> dialect.release(session, lease));
    }

    @Override
    public WriteOutcome renew(Lease lease) {
        return ownerWrite("The renewal", lease, (dialect, session) -> dialect.renew(session, lease));
    }

    /** Zero rows mean that the record is not the owner's, or that somebody has locked it for a moment. */
    private WriteOutcome ownerWrite(String what, Lease lease, Task<Boolean> write) {
        String task = task(what, lease.request());
        return own(task, (dialect, session) -> {
            long start = System.nanoTime();
            while (!write.run(dialect, session)) {
                Row row = dialect.read(session, lease.id());
                if (row == null || row.expired() || !row.processingBy(lease.owner())) {
                    return WriteOutcome.LOST;
                }
                if (!isSoon(start)) {
                    throw new StoreUnavailableException(task + ": another transaction keeps the record locked", null);
                }
                Pause.of(PAUSE);
            }
            return WriteOutcome.APPLIED;
        });
    }

    @Override
    public Optional<IdempotencyRecord> find(RecordId id) {
        return own("Reading record " + id, (dialect, session) -> Optional.ofNullable(dialect.read(session, id)))
                .filter(row -> !row.expired())
                .map(Row::toRecord);
    }

    /**
     * {@inheritDoc}
     *
     * <p>A record that a running transaction has locked cannot be removed: the answer is {@code false} then.
     */
    @Override
    public boolean forget(RecordId id) {
        return own("Removing record " + id, (dialect, session) -> {
            long start = System.nanoTime();
            Row row = dialect.read(session, id);
            while (row != null) {
                if (dialect.remove(session, id)) {
                    return !row.expired();
                }
                if (!isSoon(start)) {
                    return false;
                }
                Pause.of(PAUSE);
                row = dialect.read(session, id);
            }
            return false;
        });
    }

    @Override
    public int purgeExpired(int batchSize) {
        Purged purged = own("The purge", (dialect, session) -> dialect.purge(session, batchSize, archive));
        for (Unresolved unresolved : purged.unresolved()) {
            log.warn(
                    "Record {} of operation {} has expired and was removed; it was AT_MOST_ONCE, and nobody has found out whether"
                            + " the work was done",
                    unresolved.id(),
                    unresolved.operation());
        }
        return purged.count();
    }

    @Override
    public Duration purgeLag() {
        return own("Measuring the lag of the purge", Dialect::purgeLag);
    }

    @Override
    public Optional<ClaimResult> beforeTransaction(ClaimRequest request, boolean serializable) {
        Database known = database();
        boolean separate = mode(known) == ClaimMode.SEPARATE;
        if (!separate && !isSerializable(known, serializable)) {
            return Optional.empty();
        }
        return own(task("The claim", request), (dialect, session) -> {
            Row row = separate
                    ? dialect.insertOrRead(session, request.id(), Entry.placeholder(request))
                            .row()
                    : dialect.read(session, request.id());
            return row == null ? Optional.empty() : Optional.ofNullable(row.answerTo(request));
        });
    }

    @Override
    public ClaimResult claimInTransaction(ClaimRequest request, boolean serializable) {
        return claimInTransaction(request, Entry.heldByTransaction(request), serializable);
    }

    @Override
    public ClaimResult recordDoneInTransaction(ClaimRequest request, StoredResult result, boolean serializable) {
        return claimInTransaction(request, Entry.done(request, result, request.retention()), serializable);
    }

    private ClaimResult claimInTransaction(ClaimRequest request, Entry entry, boolean serializable) {
        Database known = database();
        return inTransaction(task("The claim", request), (dialect, session) -> {
            if (mode(known) == ClaimMode.JOINED) {
                return dialect.claimJoined(session, request, entry, isSerializable(known, serializable));
            }
            OptionalLong token = dialect.takeInTransaction(session, request, entry);
            if (token.isPresent()) {
                return Row.claimed(request, token.getAsLong());
            }
            Row row = dialect.readInTransaction(session, request.id());
            ClaimResult answer = row == null ? null : row.answerTo(request);
            return answer == null ? new ClaimResult.Contended() : answer;
        });
    }

    @Override
    public ClaimResult claimInOpenTransaction(ClaimRequest request) {
        return claimInOpenTransaction(request, Entry.heldByTransaction(request));
    }

    @Override
    public ClaimResult recordDoneInOpenTransaction(ClaimRequest request, StoredResult result) {
        return claimInOpenTransaction(request, Entry.done(request, result, request.retention()));
    }

    private ClaimResult claimInOpenTransaction(ClaimRequest request, Entry entry) {
        return inTransaction(
                task("The claim", request), (dialect, session) -> dialect.claimInOpen(session, request, entry));
    }

    @Override
    public WriteOutcome completeInTransaction(Lease lease, StoredResult result, Duration retention) {
        Entry done = Entry.done(lease.request(), result, retention);
        return inTransaction(
                task("Storing the result", lease.request()),
                (dialect, session) -> dialect.completeInTransaction(session, lease, done));
    }

    @Override
    public void afterRollback(Lease lease) {
        Database known = database;
        if (known == null || mode(known) != ClaimMode.SEPARATE) {
            return;
        }
        try {
            own(
                    task("Tidying up", lease.request()),
                    (dialect, session) -> dialect.removePlaceholder(session, lease.id()));
        } catch (RuntimeException e) {
            log.debug("The placeholder of a call that was rolled back is still there; the next call takes it", e);
        }
    }

    @Override
    public CommitProbe probe(Lease lease) {
        try {
            return own(
                    task("The probe", lease.request()),
                    (dialect, session) -> dialect.probe(session, lease, connections.timeout()));
        } catch (RuntimeException e) {
            log.warn(
                    "What became of a commit of operation {} ({}) could not be found out yet",
                    lease.request().operation(),
                    lease.id(),
                    e);
            return CommitProbe.UNKNOWN;
        }
    }

    private static String task(String what, ClaimRequest request) {
        return what + " of operation " + request.operation() + " (" + request.id() + ")";
    }

    private ClaimMode mode(Database known) {
        return claimMode == ClaimMode.AUTO ? known.dialect().claimMode() : claimMode;
    }

    private static boolean isSerializable(Database known, boolean requested) {
        return requested
                || (known.serializableByDefault()
                        && TransactionSynchronizationManager.getCurrentTransactionIsolationLevel() == null);
    }

    /** Whether transactions of the library are READ COMMITTED where nothing else is said. */
    boolean readsCommitted() {
        return database().dialect().readsCommitted();
    }

    /** What is behind the data source. */
    Database database() {
        Database known = database;
        if (known == null) {
            try {
                known = connections.ownAutoCommit(connection -> {
                    Dialect dialect = Databases.dialect(connection, table, connections.timeout());
                    return new Database(
                            dialect,
                            !dialect.readsCommitted()
                                    && connection.getTransactionIsolation() == Connection.TRANSACTION_SERIALIZABLE);
                });
            } catch (SQLException e) {
                throw SqlFailures.unavailable("Looking at the database", e);
            }
            database = known;
            log.debug(
                    "The idempotency records are in table {} of {}",
                    table.text(),
                    known.dialect().name());
        }
        return known;
    }

    <R extends @Nullable Object> R own(String task, Task<R> work) {
        Dialect dialect = database().dialect();
        for (int sending = 1; ; sending++) {
            try {
                return connections.own(dialect, session -> work.run(dialect, session));
            } catch (SQLException e) {
                if (!SqlFailures.isConflict(e) || SqlFailures.isLockTimeout(e) || sending == SENDINGS) {
                    throw SqlFailures.outside(task, e);
                }
            }
        }
    }

    private <R> R inTransaction(String task, Task<R> work) {
        Dialect dialect = database().dialect();
        try {
            return connections.inTransaction(dialect, session -> work.run(dialect, session));
        } catch (SQLException e) {
            throw SqlFailures.inTransaction(task, e);
        }
    }

    /** Work of the store on the database. */
    @FunctionalInterface
    interface Task<R extends @Nullable Object> {

        R run(Dialect dialect, Session session) throws SQLException;
    }

    /**
     * What is known of the database.
     *
     * @param serializableByDefault whether transactions of the library are SERIALIZABLE that ask for nothing else
     */
    record Database(Dialect dialect, boolean serializableByDefault) {}

    /**
     * Settings of a store.
     *
     * @since 0.1.0
     */
    public static final class Builder {

        private static final Duration LONGEST_TIMEOUT = Duration.ofDays(1);

        private final DataSource dataSource;
        private TableName tableName = new TableName(TableName.DEFAULT);
        private @Nullable TableName archiveTableName;
        private ClaimMode claimMode = ClaimMode.AUTO;
        private Duration queryTimeout = Duration.ofSeconds(5);

        private Builder(DataSource dataSource) {
            this.dataSource = dataSource;
        }

        /**
         * The table, {@code idempotency_record} by default; may be qualified with a schema.
         *
         * @throws IllegalArgumentException if it is not a plain identifier or two with a dot between
         */
        public Builder tableName(String name) {
            this.tableName = new TableName(Objects.requireNonNull(name, "tableName"));
            return this;
        }

        /**
         * The table to which the purge moves expired records, in the same transaction; without one it removes them. In the same
         * database; may be qualified with a schema.
         *
         * @throws IllegalArgumentException if it is not a plain identifier or two with a dot between
         */
        public Builder archiveTableName(String name) {
            this.archiveTableName =
                    new TableName(Objects.requireNonNull(name, "archiveTableName"), TableName.Use.ARCHIVE);
            return this;
        }

        /** How claims become part of transactions, {@link ClaimMode#AUTO} by default. */
        public Builder claimMode(ClaimMode mode) {
            this.claimMode = Objects.requireNonNull(mode, "claimMode");
            return this;
        }

        /** How long a statement of the store may take, 5 seconds by default; drivers round it up to whole seconds. */
        public Builder queryTimeout(Duration timeout) {
            if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
                throw new IllegalArgumentException(
                        "idempotency.jdbc.query-timeout is positive and at most a day, not " + timeout);
            }
            this.queryTimeout = timeout;
            return this;
        }

        /** The store. Does not touch the database. */
        public JdbcIdempotencyStore build() {
            return new JdbcIdempotencyStore(this);
        }
    }
}
