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
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * H2.
 *
 * <p>No statement here waits for the lock of a row: a waiter behind a transaction that had a failed statement spins without a
 * timeout (seen in 2.3.232). So every UPDATE and DELETE is preceded by {@code for update skip locked}, and every INSERT has a lock
 * timeout of zero. {@code for update} does not see a row that another transaction has inserted and not committed; only an INSERT
 * bumps into it.
 *
 * <p>CURRENT_TIMESTAMP is frozen per transaction, and INFORMATION_SCHEMA.SESSIONS, which knows when the executing statement began,
 * fails at random while other sessions end transactions. The time inside of a UUID of version 7 is neither.
 */
final class H2Dialect implements Dialect {

    // The first six bytes of a UUID of version 7.
    private static final String CLOCK =
            "cast(X'0000' || substring(cast(random_uuid(7) as binary(16)) from 1 for 6) as bigint)";

    private static final String NOW = "select " + CLOCK;

    private static final String READ = """
            select %2$s, %3$s
            from %1$s where id = ?
            """;

    private static final String LOCK = """
            select %2$s, %3$s
            from %1$s where id = ? for update skip locked
            """;

    private static final String INSERT = """
            insert into %1$s (id, record_version, token, state, operation, guarantee, owner, fingerprint,
                    completed_at, lease_until, expires_at, result, created_at)
            select ?, 1, 1, ?, ?, ?, ?, ?, now_ms + ?, now_ms + ?, now_ms + ?, ?, now_ms
            from (select %3$s as now_ms) as clock
            """;

    private static final String OVERWRITE = """
            update %1$s
            set token = ?, state = ?, operation = ?, guarantee = ?, owner = ?, fingerprint = ?,
                completed_at = %3$s + ?, lease_until = %3$s + ?, expires_at = %3$s + ?, result = ?,
                created_at = case when ? then created_at else %3$s end
            where id = ?
            """;

    private static final String RENEW = """
            update %1$s
            set lease_until = %3$s + ?, expires_at = %3$s + ?
            where id = ?
            """;

    private static final String DELETE = "delete from %1$s where id = ?";

    // In the order of the index on expires_at. With an ORDER BY, H2 locks every expired row before it counts.
    private static final String LOCK_EXPIRED = """
            select id, operation, state, guarantee
            from %1$s
            where expires_at <= ? and record_version = 1
                and (state = 'D' or lease_until is null or lease_until <= ?)
            fetch first ? rows only
            for update skip locked
            """;

    private static final String ARCHIVE_ALL = """
            insert into %1$s (id, %2$s, archived_at, archived_on)
            select id, %2$s, cast(? as bigint), cast(? as date) from %3$s where id = any(?)
            """;

    private static final String PURGE_LAG = """
            select %3$s - min(expires_at) from %1$s
            where expires_at <= %3$s and record_version = 1
                and (state = 'D' or lease_until is null or lease_until <= %3$s)
            """;

    private static final String DELETE_ALL = "delete from %1$s where id = any(?)";

    // The path of a database in memory is null.
    private static final String WRITE_DELAY = """
            select SETTING_VALUE from INFORMATION_SCHEMA.SETTINGS
            where SETTING_NAME = 'WRITE_DELAY' and database_path() is not null
            """;

    private static final Duration PROBE_INTERVAL = Duration.ofMillis(10);

    private final String name;
    private final String read;
    private final String lock;
    private final String insert;
    private final String overwrite;
    private final String renew;
    private final String delete;
    private final String lockExpired;
    private final String deleteAll;
    private final String purgeLag;
    private final TableName table;

    H2Dialect(String version, TableName table) {
        this.name = "H2 " + version;
        this.read = READ.formatted(table.text(), Row.COLUMNS, CLOCK);
        this.lock = LOCK.formatted(table.text(), Row.COLUMNS, CLOCK);
        this.insert = INSERT.formatted(table.text(), Row.COLUMNS, CLOCK);
        this.overwrite = OVERWRITE.formatted(table.text(), Row.COLUMNS, CLOCK);
        this.renew = RENEW.formatted(table.text(), Row.COLUMNS, CLOCK);
        this.delete = DELETE.formatted(table.text());
        this.lockExpired = LOCK_EXPIRED.formatted(table.text());
        this.deleteAll = DELETE_ALL.formatted(table.text());
        this.purgeLag = PURGE_LAG.formatted(table.text(), Row.COLUMNS, CLOCK);
        this.table = table;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String platform() {
        return "h2";
    }

    @Override
    public ClaimMode claimMode() {
        return ClaimMode.SEPARATE;
    }

    // In H2 it belongs to the connection, where it would stay, and no statement here waits for anything that it could
    // end.
    @Override
    public int queryTimeoutSeconds(Duration timeout) {
        return 0;
    }

    @Override
    public Limits limit(Connection connection, Duration timeout) {
        return () -> {};
    }

    // The lock timeout bounds the wait for a table that somebody has locked.
    @Override
    public Limits limitOwn(Connection connection, Duration timeout) throws SQLException {
        int isolation = connection.getTransactionIsolation();
        int lockTimeout = lockTimeout(connection);
        if (isolation != Connection.TRANSACTION_READ_COMMITTED) {
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
        setLockTimeout(connection, Math.min(lockTimeout, Math.toIntExact(timeout.toMillis())));
        return () -> {
            setLockTimeout(connection, lockTimeout);
            if (isolation != Connection.TRANSACTION_READ_COMMITTED) {
                connection.setTransactionIsolation(isolation);
            }
        };
    }

    private static int lockTimeout(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("call lock_timeout()")) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private static void setLockTimeout(Connection connection, int millis) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("set lock_timeout ?")) {
            statement.setInt(1, millis);
            statement.execute();
        }
    }

    @Override
    public Found insertOrRead(Session session, RecordId id, Entry entry) throws SQLException {
        Row row = read(session, id);
        return row == null ? insert(session, id, entry) : Found.row(row);
    }

    @Override
    public @Nullable Row read(Session session, RecordId id) throws SQLException {
        return select(session, read, id);
    }

    // Under READ UNCOMMITTED it may never be committed.
    @Override
    public @Nullable Row readInTransaction(Session session, RecordId id) throws SQLException {
        return session.connection().getTransactionIsolation() == Connection.TRANSACTION_READ_UNCOMMITTED
                ? null
                : read(session, id);
    }

    /** The row, if nobody else has locked it; from then on this transaction has. */
    private @Nullable Row lock(Session session, RecordId id) throws SQLException {
        return select(session, lock, id);
    }

    private static @Nullable Row select(Session session, String sql, RecordId id) throws SQLException {
        try (PreparedStatement statement = session.prepare(sql)) {
            statement.setBytes(1, id.bytes());
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? Row.read(id, rows, 1, OwnerColumn.UUID_TYPE) : null;
            }
        }
    }

    private Found insert(Session session, RecordId id, Entry entry) throws SQLException {
        int lockTimeout = lockTimeout(session.connection());
        setLockTimeout(session.connection(), 0);
        try (PreparedStatement statement = session.prepare(insert)) {
            statement.setBytes(1, id.bytes());
            entry.bind(statement, 2, OwnerColumn.UUID_TYPE);
            statement.executeUpdate();
            return Found.INSERTED;
        } catch (SQLException e) {
            if (SqlFailures.isDuplicate(e)) {
                return Found.UNSEEN;
            }
            if (SqlFailures.isLockTimeout(e)) {
                return Found.HELD;
            }
            throw e;
        } finally {
            setLockTimeout(session.connection(), lockTimeout);
        }
    }

    @Override
    public OptionalLong take(Session session, ClaimRequest request, Entry entry) throws SQLException {
        return session.inTransaction(own -> takeInTransaction(own, request, entry));
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
        overwrite(session, id, entry, token, token > 1);
        return token;
    }

    private void overwrite(Session session, RecordId id, Entry entry, long token, boolean sameRecord)
            throws SQLException {
        try (PreparedStatement statement = session.prepare(overwrite)) {
            statement.setLong(1, token);
            int next = entry.bind(statement, 2, OwnerColumn.UUID_TYPE);
            statement.setBoolean(next, sameRecord);
            statement.setBytes(next + 1, id.bytes());
            statement.executeUpdate();
        }
    }

    @Override
    public boolean complete(Session session, Lease lease, Entry done) throws SQLException {
        return changeIf(
                session,
                lease.id(),
                row -> row.processingBy(lease.owner()) && !row.expired(),
                own -> overwrite(own, lease.id(), done, lease.token(), true));
    }

    @Override
    public boolean renew(Session session, Lease lease) throws SQLException {
        Entry leased = Entry.leased(lease.request());
        return changeIf(session, lease.id(), row -> row.processingBy(lease.owner()) && !row.expired(), own -> {
            try (PreparedStatement statement = own.prepare(renew)) {
                Entry.bindMillis(statement, 1, leased.leaseEndsIn());
                statement.setLong(2, leased.expiresIn());
                statement.setBytes(3, lease.id().bytes());
                statement.executeUpdate();
            }
        });
    }

    @Override
    public boolean release(Session session, Lease lease) throws SQLException {
        return changeIf(session, lease.id(), row -> row.processingBy(lease.owner()), own -> delete(own, lease.id()));
    }

    @Override
    public boolean removePlaceholder(Session session, RecordId id) throws SQLException {
        return changeIf(session, id, Row::isPlaceholder, own -> delete(own, id));
    }

    @Override
    public boolean remove(Session session, RecordId id) throws SQLException {
        return changeIf(session, id, row -> true, own -> delete(own, id));
    }

    private void delete(Session session, RecordId id) throws SQLException {
        try (PreparedStatement statement = session.prepare(delete)) {
            statement.setBytes(1, id.bytes());
            statement.executeUpdate();
        }
    }

    private boolean changeIf(Session session, RecordId id, Predicate<Row> condition, Change change)
            throws SQLException {
        return session.inTransaction(own -> {
            Row row = lock(own, id);
            if (row == null || !condition.test(row)) {
                return false;
            }
            change.apply(own);
            return true;
        });
    }

    @Override
    public Purged purge(Session session, int batchSize, @Nullable TableName archive) throws SQLException {
        return session.inTransaction(own -> {
            List<byte[]> ids = new ArrayList<>();
            List<Unresolved> unresolved = new ArrayList<>();
            // As a parameter it lets the index on expires_at be used.
            long now = now(own);
            try (PreparedStatement statement = own.prepare(lockExpired)) {
                statement.setLong(1, now);
                statement.setLong(2, now);
                statement.setInt(3, batchSize);
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
            if (!ids.isEmpty()) {
                if (archive != null) {
                    archive(own, ids, archive, now);
                }
                try (PreparedStatement statement = own.prepare(deleteAll)) {
                    statement.setObject(1, ids.toArray());
                    statement.executeUpdate();
                }
            }
            return new Purged(ids.size(), unresolved);
        });
    }

    private void archive(Session session, List<byte[]> ids, TableName archive, long now) throws SQLException {
        String sql = ARCHIVE_ALL.formatted(archive.text(), Row.COLUMNS, table.text());
        try (PreparedStatement statement = session.prepare(sql)) {
            statement.setLong(1, now);
            statement.setObject(2, LocalDate.ofInstant(Instant.ofEpochMilli(now), ZoneOffset.UTC));
            statement.setObject(3, ids.toArray());
            statement.executeUpdate();
        }
    }

    @Override
    public Duration purgeLag(Session session) throws SQLException {
        return Row.millis(session, purgeLag);
    }

    private static long now(Session session) throws SQLException {
        try (PreparedStatement statement = session.prepare(NOW);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getLong(1);
        }
    }

    // A row that was committed before is asked for its lock; where there is none, an INSERT finds out whether the
    // transaction's own one is still uncommitted.
    @Override
    public CommitProbe probe(Session session, Lease lease, Duration timeout) throws SQLException {
        long start = System.nanoTime();
        while (true) {
            Row row = read(session, lease.id());
            if (row != null && row.doneBy(lease.owner())) {
                return CommitProbe.COMMITTED;
            }
            if (session.rolledBack(own -> hasEnded(own, lease))) {
                Row settled = read(session, lease.id());
                return settled != null && settled.doneBy(lease.owner())
                        ? CommitProbe.COMMITTED
                        : CommitProbe.ROLLED_BACK;
            }
            if (System.nanoTime() - start > timeout.toNanos()) {
                return CommitProbe.UNKNOWN;
            }
            Pause.of(PROBE_INTERVAL);
        }
    }

    private boolean hasEnded(Session session, Lease lease) throws SQLException {
        return lock(session, lease.id()) != null
                || insert(session, lease.id(), Entry.heldByTransaction(lease.request()))
                        .inserted();
    }

    @Override
    public List<String> durabilityWarnings(Session session) throws SQLException {
        try (PreparedStatement statement = session.prepare(WRITE_DELAY);
                ResultSet rows = statement.executeQuery()) {
            return rows.next() && rows.getInt(1) > 0
                    ? List.of("WRITE_DELAY of the H2 database is " + rows.getInt(1)
                            + " ms: a crash can undo calls that were answered in that time (SET WRITE_DELAY 0)")
                    : List.of();
        }
    }

    @Override
    public ClaimResult claimJoined(Session session, ClaimRequest request, Entry entry, boolean serializable)
            throws SQLException {
        return claim(session, request, entry, new ClaimResult.Contended());
    }

    // A lock would stay with the transaction, and keep a record from its owner that was only looked at.
    @Override
    public ClaimResult claimInOpen(Session session, ClaimRequest request, Entry entry) throws SQLException {
        Row row = readInTransaction(session, request.id());
        ClaimResult answer = row == null ? null : row.answerTo(request);
        return answer != null ? answer : claim(session, request, entry, Row.HELD);
    }

    private ClaimResult claim(Session session, ClaimRequest request, Entry entry, ClaimResult ifUnreadable)
            throws SQLException {
        Row row = lock(session, request.id());
        if (row != null) {
            ClaimResult answer = row.answerTo(request);
            return answer != null ? answer : Row.claimed(request, overwrite(session, request.id(), row, entry));
        }
        Found found = insert(session, request.id(), entry);
        if (found.inserted()) {
            return Row.claimed(request, 1);
        }
        Row other = readInTransaction(session, request.id());
        ClaimResult answer = other == null ? null : other.answerTo(request);
        if (answer != null) {
            return answer;
        }
        return found.held() || other != null ? Row.HELD : ifUnreadable;
    }

    @Override
    public WriteOutcome completeInTransaction(Session session, Lease lease, Entry done) throws SQLException {
        Row row = lock(session, lease.id());
        if (row == null || !row.claimedInTransactionBy(lease.owner())) {
            return WriteOutcome.LOST;
        }
        overwrite(session, lease.id(), done, lease.token(), true);
        return WriteOutcome.APPLIED;
    }

    /** A change of a row that is locked. */
    @FunctionalInterface
    private interface Change {

        void apply(Session session) throws SQLException;
    }
}
