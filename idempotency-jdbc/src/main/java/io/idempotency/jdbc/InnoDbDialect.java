package io.idempotency.jdbc;

import io.idempotency.jdbc.Connections.Limits;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.TransactionalStore.CommitProbe;
import io.idempotency.spi.WriteOutcome;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What MariaDB and MySQL have in common: the locks of InnoDB.
 *
 * <p>Plain reads lock nothing and wait for nobody, except in a SERIALIZABLE transaction; under READ UNCOMMITTED they see what may
 * never be committed. So a transaction reads plainly between the two only. A locking read of an absent id locks the gap around it
 * under REPEATABLE READ, against strangers; so what is not there is inserted and not looked for. An INSERT that fails on a row leaves
 * that row locked for reading until the transaction ends.
 *
 * <p>The time is that of the statement, in UTC and without the session's time zone, in which an hour can come twice.
 */
abstract class InnoDbDialect implements Dialect {

    private static final String CLOCK =
            "timestampdiff(microsecond, timestamp'1970-01-01 00:00:00', utc_timestamp(3)) div 1000";

    private static final String READ = """
            select %2$s, %3$s
            from %1$s where id = ?
            """;

    private static final String LOCK = READ.strip() + " for update skip locked";

    private static final String LOCK_AT_ONCE = READ.strip() + " for update nowait";

    private static final String INSERT = """
            insert into %1$s (id, record_version, token, state, operation, guarantee, owner, fingerprint,
                    completed_at, lease_until, expires_at, result, created_at)
            values (?, 1, 1, ?, ?, ?, ?, ?, %3$s + ?, %3$s + ?, %3$s + ?, ?, %3$s)
            """;

    private static final String OVERWRITE = """
            update %1$s
            set token = ?, state = ?, operation = ?, guarantee = ?, owner = ?, fingerprint = ?,
                completed_at = %3$s + ?, lease_until = %3$s + ?, expires_at = %3$s + ?, result = ?,
                created_at = case when ? then created_at else %3$s end
            where id = ?
            """;

    private static final String COMPLETE = """
            update %1$s
            set state = 'D', completed_at = %3$s, lease_until = null, expires_at = %3$s + ?, result = ?
            where id = ? and record_version = 1 and state = 'P' and owner = ? and expires_at > %3$s
            """;

    private static final String COMPLETE_IN_TRANSACTION = """
            update %1$s
            set state = 'D', completed_at = %3$s, expires_at = %3$s + ?, result = ?
            where id = ? and record_version = 1 and owner = ? and lease_until is null
            """;

    private static final String RENEW = """
            update %1$s
            set lease_until = %3$s + ?, expires_at = %3$s + ?
            where id = ? and record_version = 1 and state = 'P' and owner = ? and expires_at > %3$s
            """;

    private static final String RELEASE =
            "delete from %1$s where id = ? and record_version = 1 and state = 'P' and owner = ?";

    private static final String REMOVE_PLACEHOLDER =
            "delete from %1$s where id = ? and record_version = 1 and state = 'P' and lease_until is null";

    private static final String REMOVE = "delete from %1$s where id = ?";

    private static final String LOCK_EXPIRED = """
            select id, operation, state, guarantee
            from %1$s
            where expires_at <= %3$s and record_version = 1
                and (state = 'D' or lease_until is null or lease_until <= %3$s)
            order by expires_at
            limit ?
            for update skip locked
            """;

    // A hash join would read the whole table. MariaDB takes the hint for a comment.
    private static final String DELETE_ALL = "delete /*+ no_bnl() */ r from %1$s";

    private static final String ARCHIVE_ALL = """
            insert into %1$s (id, %2$s, archived_at, archived_on)
            select /*+ no_bnl() */ r.id, %2$s, %3$s, utc_date() from %4$s
            """;

    private static final String PURGE_LAG = """
            select %3$s - min(expires_at) from %1$s
            where expires_at <= %3$s and record_version = 1
                and (state = 'D' or lease_until is null or lease_until <= %3$s)
            """;

    /** How many ids one statement names. */
    private static final int NAMED_AT_ONCE = 500;

    private static final String ENGINE = """
            select engine from information_schema.tables
            where table_schema = coalesce(?, database()) and table_name = ?
            """;

    private static final Duration PROBE_INTERVAL = Duration.ofMillis(10);

    private final String name;
    private final TableName table;
    private final InnoDbSettings settings;
    private final String read;
    private final String lock;
    private final String lockAtOnce;
    private final String readForShare;
    private final String overwrite;
    private final String lockExpired;
    private final String purgeLag;

    /** Without a limit on the wait for a lock. */
    final String insert;

    private final String complete;
    private final String completeInTransaction;
    private final String renew;
    private final String release;
    private final String removePlaceholder;
    private final String remove;

    InnoDbDialect(String name, TableName table, InnoDbSettings settings, String forShareSkipLocked) {
        this.name = name;
        this.table = table;
        this.settings = settings;
        this.read = sql(READ);
        this.lock = sql(LOCK);
        this.lockAtOnce = sql(LOCK_AT_ONCE);
        this.readForShare = sql(READ).strip() + " " + forShareSkipLocked;
        this.overwrite = sql(OVERWRITE);
        this.lockExpired = sql(LOCK_EXPIRED);
        this.purgeLag = sql(PURGE_LAG);
        this.insert = sql(INSERT);
        this.complete = sql(COMPLETE);
        this.completeInTransaction = sql(COMPLETE_IN_TRANSACTION);
        this.renew = sql(RENEW);
        this.release = sql(RELEASE);
        this.removePlaceholder = sql(REMOVE_PLACEHOLDER);
        this.remove = sql(REMOVE);
    }

    private String sql(String template) {
        return template.formatted(table.text(), Row.COLUMNS, CLOCK);
    }

    /**
     * Inserts a row and does not wait for another transaction that has inserted or locked it; fails with a lock timeout then.
     *
     * @param binder binds what {@link #insert} asks for
     */
    abstract void insertAtOnce(Session session, RecordId id, Binder binder) throws SQLException;

    /** Runs a statement that changes one row; nothing happens where that is locked. On a connection of our own. */
    abstract boolean changeUnlessLocked(Session session, RecordId id, String sql, Binder binder) throws SQLException;

    /**
     * A FROM clause with the rows of these ids as {@code r}, looked up one by one: a scan of the table, which is chosen where most of its
     * ids are named, waits for every row that somebody has locked.
     *
     * @param count how many ids it takes as parameters
     */
    abstract String rowsById(TableName of, int count);

    @Override
    public String name() {
        return name;
    }

    @Override
    public ClaimMode claimMode() {
        return ClaimMode.SEPARATE;
    }

    @Override
    public boolean readsCommitted() {
        return true;
    }

    @Override
    public int queryTimeoutSeconds(Duration timeout) {
        return Math.toIntExact(timeout.plusMillis(999).toSeconds());
    }

    @Override
    public Limits limit(Connection connection, Duration timeout) throws SQLException {
        return SocketLimit.put(connection, timeout);
    }

    @Override
    public Limits limitOwn(Connection connection, Duration timeout) throws SQLException {
        Limits socket = SocketLimit.put(connection, timeout);
        if (!settings.readsUncommitted()) {
            return socket;
        }
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        return () -> {
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_UNCOMMITTED);
            socket.lift();
        };
    }

    @Override
    public Found insertOrRead(Session session, RecordId id, Entry entry) throws SQLException {
        Row row = read(session, id);
        return row == null ? insert(session, id, entry) : Found.row(row);
    }

    private Found insert(Session session, RecordId id, Entry entry) throws SQLException {
        try {
            insertAtOnce(session, id, statement -> {
                statement.setBytes(1, id.bytes());
                entry.bind(statement, 2, OwnerColumn.BYTES);
            });
            return Found.INSERTED;
        } catch (SQLException e) {
            if (SqlFailures.isDuplicate(e)) {
                return Found.UNSEEN;
            }
            if (SqlFailures.isLockTimeout(e) && !endsTransaction(session)) {
                return Found.HELD;
            }
            throw e;
        }
    }

    /** Whether a lock timeout has rolled back more than its statement. */
    private boolean endsTransaction(Session session) throws SQLException {
        return settings.rollsBackOnTimeout() && !session.connection().getAutoCommit();
    }

    @Override
    public @Nullable Row read(Session session, RecordId id) throws SQLException {
        return select(session, read, id);
    }

    @Override
    public @Nullable Row readInTransaction(Session session, RecordId id) throws SQLException {
        return switch (session.connection().getTransactionIsolation()) {
            case Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ -> read(session, id);
            default -> null;
        };
    }

    /** The row, if nobody else has locked it; from then on this transaction has. */
    @Nullable
    Row lock(Session session, RecordId id) throws SQLException {
        return select(session, lock, id);
    }

    private static @Nullable Row select(Session session, String sql, RecordId id) throws SQLException {
        try (PreparedStatement statement = session.prepare(sql)) {
            statement.setBytes(1, id.bytes());
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? Row.read(id, rows, 1, OwnerColumn.BYTES) : null;
            }
        }
    }

    @Override
    public OptionalLong take(Session session, ClaimRequest request, Entry entry) throws SQLException {
        return session.readCommitted(
                own -> own.inTransaction(transaction -> takeInTransaction(transaction, request, entry)));
    }

    @Override
    public OptionalLong takeInTransaction(Session session, ClaimRequest request, Entry entry) throws SQLException {
        Row row = lock(session, request.id());
        return row == null || row.answerTo(request) != null
                ? OptionalLong.empty()
                : OptionalLong.of(overwrite(session, request.id(), row, entry));
    }

    private long overwrite(Session session, RecordId id, Row row, Entry entry) throws SQLException {
        long token = row.nextToken();
        try (PreparedStatement statement = session.prepare(overwrite)) {
            statement.setLong(1, token);
            int next = entry.bind(statement, 2, OwnerColumn.BYTES);
            statement.setBoolean(next, token > 1);
            statement.setBytes(next + 1, id.bytes());
            statement.executeUpdate();
        }
        return token;
    }

    @Override
    public boolean complete(Session session, Lease lease, Entry done) throws SQLException {
        return changeUnlessLocked(session, lease.id(), complete, statement -> bindDone(statement, lease, done));
    }

    private static void bindDone(PreparedStatement statement, Lease lease, Entry done) throws SQLException {
        statement.setLong(1, done.expiresIn());
        Entry.bindResult(statement, 2, done.result());
        bindOwn(statement, 3, lease);
    }

    private static void bindOwn(PreparedStatement statement, int first, Lease lease) throws SQLException {
        statement.setBytes(first, lease.id().bytes());
        OwnerColumn.BYTES.bind(statement, first + 1, lease.owner());
    }

    @Override
    public boolean renew(Session session, Lease lease) throws SQLException {
        Entry leased = Entry.leased(lease.request());
        return changeUnlessLocked(session, lease.id(), renew, statement -> {
            Entry.bindMillis(statement, 1, leased.leaseEndsIn());
            statement.setLong(2, leased.expiresIn());
            bindOwn(statement, 3, lease);
        });
    }

    @Override
    public boolean release(Session session, Lease lease) throws SQLException {
        return changeUnlessLocked(session, lease.id(), release, statement -> bindOwn(statement, 1, lease));
    }

    @Override
    public boolean removePlaceholder(Session session, RecordId id) throws SQLException {
        return changeUnlessLocked(session, id, removePlaceholder, statement -> statement.setBytes(1, id.bytes()));
    }

    @Override
    public boolean remove(Session session, RecordId id) throws SQLException {
        return changeUnlessLocked(session, id, remove, statement -> statement.setBytes(1, id.bytes()));
    }

    @Override
    public Purged purge(Session session, int batchSize, @Nullable TableName archive) throws SQLException {
        return session.readCommitted(
                own -> own.inTransaction(transaction -> purgeInTransaction(transaction, batchSize, archive)));
    }

    private Purged purgeInTransaction(Session session, int batchSize, @Nullable TableName archive) throws SQLException {
        List<byte[]> ids = new ArrayList<>();
        List<Unresolved> unresolved = new ArrayList<>();
        try (PreparedStatement statement = session.prepare(lockExpired)) {
            statement.setInt(1, batchSize);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    byte[] id = rows.getBytes(1);
                    ids.add(id);
                    if (Row.PROCESSING.equals(rows.getString(3)) && "M".equals(rows.getString(4))) {
                        unresolved.add(new Unresolved(RecordId.ofBytes(id), rows.getString(2)));
                    }
                }
            }
        }
        for (int first = 0; first < ids.size(); first += NAMED_AT_ONCE) {
            List<byte[]> named = ids.subList(first, Math.min(ids.size(), first + NAMED_AT_ONCE));
            String rows = rowsById(table, named.size());
            if (archive != null) {
                execute(session, ARCHIVE_ALL.formatted(archive.text(), Row.COLUMNS, CLOCK, rows), named);
            }
            execute(session, DELETE_ALL.formatted(rows), named);
        }
        return new Purged(ids.size(), unresolved);
    }

    private static void execute(Session session, String sql, List<byte[]> ids) throws SQLException {
        try (PreparedStatement statement = session.prepare(sql)) {
            int index = 1;
            for (byte[] id : ids) {
                statement.setBytes(index++, id);
            }
            statement.executeUpdate();
        }
    }

    @Override
    public Duration purgeLag(Session session) throws SQLException {
        return Row.millis(session, purgeLag);
    }

    // Every transaction that claims a key holds a row, and a locking read bumps into it, committed or not. Waiting
    // waiters would be killed when it rolls back, all but one.
    @Override
    public CommitProbe probe(Session session, Lease lease, Duration timeout) throws SQLException {
        long start = System.nanoTime();
        while (true) {
            Row row = read(session, lease.id());
            if (row != null && row.doneBy(lease.owner())) {
                return CommitProbe.COMMITTED;
            }
            try {
                Row settled = select(session, lockAtOnce, lease.id());
                return settled != null && settled.doneBy(lease.owner())
                        ? CommitProbe.COMMITTED
                        : CommitProbe.ROLLED_BACK;
            } catch (SQLException e) {
                if (!SqlFailures.isLockTimeout(e)) {
                    throw e;
                }
            }
            if (System.nanoTime() - start > timeout.toNanos()) {
                return CommitProbe.UNKNOWN;
            }
            Pause.of(PROBE_INTERVAL);
        }
    }

    @Override
    public Optional<String> flawOfTable(Session session, TableName of) throws SQLException {
        try (PreparedStatement statement = session.prepare(ENGINE)) {
            statement.setString(1, of.schema());
            statement.setString(2, of.simpleName());
            try (ResultSet rows = statement.executeQuery()) {
                String engine = rows.next() ? rows.getString(1) : null;
                return engine == null || engine.equalsIgnoreCase("InnoDB")
                        ? Optional.empty()
                        : Optional.of("is kept by the engine " + engine + ", which is not transactional: it has to be"
                                + " InnoDB");
            }
        }
    }

    @Override
    public List<String> durabilityWarnings(Session session) throws SQLException {
        List<String> warnings = new ArrayList<>();
        try (PreparedStatement statement =
                        session.prepare("select @@innodb_flush_log_at_trx_commit, @@log_bin, @@sync_binlog");
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            int flush = rows.getInt(1);
            if (flush != 1) {
                warnings.add("innodb_flush_log_at_trx_commit is " + flush + ": a crash of the "
                        + (flush == 0 ? "server" : "machine")
                        + " can undo calls that were answered in the second before it");
            }
            if (rows.getBoolean(2) && rows.getLong(3) != 1) {
                warnings.add("sync_binlog is " + rows.getLong(3)
                        + " and the binary log is on: a crash of the machine can" + " undo calls that were answered");
            }
        }
        return warnings;
    }

    // What is done by its claim is claimed by one statement. The lock that a duplicate gets by it ends with its
    // transaction, which is rolled back at once.
    @Override
    public ClaimResult claimJoined(Session session, ClaimRequest request, Entry entry, boolean serializable)
            throws SQLException {
        return entry.isDone() ? claim(session, request, entry, null) : claimInOpen(session, request, entry);
    }

    @Override
    public ClaimResult claimInOpen(Session session, ClaimRequest request, Entry entry) throws SQLException {
        return claim(session, request, entry, readInTransaction(session, request.id()));
    }

    private ClaimResult claim(Session session, ClaimRequest request, Entry entry, @Nullable Row row)
            throws SQLException {
        RecordId id = request.id();
        ClaimResult answer = row == null ? null : row.answerTo(request);
        if (answer != null) {
            return answer;
        }
        if (row == null) {
            Found found = insert(session, id, entry);
            if (found.inserted()) {
                return Row.claimed(request, 1);
            }
            if (found.held()) {
                return Row.HELD;
            }
            // The insert has locked it for reading; that lock is enough to look.
            Row unseen = select(session, readForShare, id);
            answer = unseen == null ? Row.HELD : unseen.answerTo(request);
            if (answer != null) {
                return answer;
            }
        }
        Row locked = lock(session, id);
        if (locked == null) {
            return Row.HELD;
        }
        answer = locked.answerTo(request);
        return answer != null ? answer : Row.claimed(request, overwrite(session, id, locked, entry));
    }

    // The transaction has locked the row when it claimed it.
    @Override
    public WriteOutcome completeInTransaction(Session session, Lease lease, Entry done) throws SQLException {
        try (PreparedStatement statement = session.prepare(completeInTransaction)) {
            bindDone(statement, lease, done);
            return statement.executeUpdate() == 1 ? WriteOutcome.APPLIED : WriteOutcome.LOST;
        }
    }

    /** Gives a statement its parameters. */
    @FunctionalInterface
    interface Binder {

        void bind(PreparedStatement statement) throws SQLException;
    }
}
