package io.idempotency.jdbc;

import io.idempotency.jdbc.Connections.Limits;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.TransactionalStore.CommitProbe;
import io.idempotency.spi.WriteOutcome;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL.
 *
 * <p>A transaction that claims a key holds an advisory lock on it until it ends; everybody else tries that lock and never waits for
 * it. The lock only saves work: the primary key decides. Whoever inserts without holding it exclusively holds it shared, because an
 * insert would otherwise wait for the uncommitted row of the transaction.
 */
final class PostgreSqlDialect implements Dialect {

    private static final String INSERT_OR_READ = """
            with clock as materialized (
                select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
            ), seen as materialized (
                select %2$s
                from %1$s where id = ?
            ), gate as materialized (
                select case when not exists (select from seen) then %3$s(?) end as passed
            ), inserted as (
                insert into %1$s (id, record_version, token, state, operation, guarantee, owner, fingerprint,
                        completed_at, lease_until, expires_at, result, created_at)
                select ?, 1, 1, ?, ?, ?, ?::uuid, ?, now_ms + ?, now_ms + ?, now_ms + ?, ?::bytea, now_ms
                from clock, gate where passed
                on conflict (id) do nothing
                returning token
            )
            select gate.passed, inserted.token is not null, seen.*, clock.now_ms
            from clock cross join gate left join seen on true left join inserted on true
            """;

    private static final String READ = """
            select %2$s, (extract(epoch from clock_timestamp()) * 1000)::bigint
            from %1$s where id = ?
            """;

    private static final String TAKE = """
            with clock as materialized (
                select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
            ), gate as materialized (
                select case when ? then pg_try_advisory_xact_lock(?) else pg_try_advisory_xact_lock_shared(?) end as passed
            ), free as materialized (
                select r.id, r.lease_until is not null and r.state = 'P' and r.expires_at > now_ms as abandoned
                from %1$s as r, clock, gate
                where r.id = ? and passed and r.record_version = 1
                    and (r.state = 'P' and r.lease_until is null
                        or r.state = 'P' and r.lease_until <= now_ms and r.owner = ?::uuid
                        or r.expires_at <= now_ms and (r.state = 'D' or r.lease_until <= now_ms))
                for update of r skip locked
            )
            update %1$s as r
            set token = case when abandoned then r.token + 1 else 1 end,
                created_at = case when abandoned then r.created_at else now_ms end,
                state = ?, operation = ?, guarantee = ?, owner = ?::uuid, fingerprint = ?,
                completed_at = now_ms + ?, lease_until = now_ms + ?, expires_at = now_ms + ?, result = ?::bytea
            from free, clock
            where r.id = free.id
            returning r.token
            """;

    private static final String COMPLETE = """
            with clock as materialized (
                select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
            ), own as materialized (
                select r.id from %1$s as r, clock
                where r.id = ? and r.record_version = 1 and r.state = 'P' and r.owner = ? and r.expires_at > now_ms
                for update of r skip locked
            )
            update %1$s as r
            set state = 'D', completed_at = now_ms, lease_until = null, expires_at = now_ms + ?, result = ?
            from own, clock
            where r.id = own.id
            """;

    private static final String RENEW = """
            with clock as materialized (
                select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
            ), own as materialized (
                select r.id from %1$s as r, clock
                where r.id = ? and r.record_version = 1 and r.state = 'P' and r.owner = ? and r.expires_at > now_ms
                for update of r skip locked
            )
            update %1$s as r
            set lease_until = now_ms + ?, expires_at = now_ms + ?
            from own, clock
            where r.id = own.id
            """;

    private static final String RELEASE = """
            with own as materialized (
                select id from %1$s where id = ? and record_version = 1 and state = 'P' and owner = ?
                for update skip locked
            )
            delete from %1$s as r using own where r.id = own.id
            """;

    private static final String REMOVE_PLACEHOLDER = """
            with free as materialized (
                select id from %1$s where id = ? and record_version = 1 and state = 'P' and lease_until is null
                for update skip locked
            )
            delete from %1$s as r using free where r.id = free.id
            """;

    private static final String REMOVE = """
            with free as materialized (
                select id from %1$s where id = ? for update skip locked
            )
            delete from %1$s as r using free where r.id = free.id
            """;

    private static final String PURGE_LAG = """
            with clock as materialized (
                select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
            )
            select (select now_ms from clock) - min(expires_at) from %1$s
            where expires_at <= (select now_ms from clock) and record_version = 1
                and (state = 'D' or lease_until is null or lease_until <= (select now_ms from clock))
            """;

    // The scalar subquery, not clock_timestamp() itself, lets the index on expires_at be used; an array of row
    // addresses is some twenty times faster than a join.
    private static final String PURGE = """
            with clock as materialized (
                select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
            ), removed as (
                delete from %1$s where ctid = any(array(
                    select ctid from %1$s
                    where expires_at <= (select now_ms from clock) and record_version = 1
                        and (state = 'D' or lease_until is null or lease_until <= (select now_ms from clock))
                    order by expires_at
                    limit ?
                    for update skip locked))
                returning id, operation, state, guarantee%2$s
            )%3$s
            select counted.number, removed.id, removed.operation
            from (select count(*) as number from removed) as counted
                left join removed on removed.state = 'P' and removed.guarantee = 'M'
            """;

    private static final String ARCHIVED = """
            , archived as (
                insert into %1$s (id, %2$s, archived_at, archived_on)
                select id, %2$s, now_ms, (to_timestamp(now_ms / 1000.0) at time zone 'UTC')::date
                from removed, clock
            )""";

    /** What {@link #PURGE} returns of a row for the archive alone. */
    private static final String FURTHER_COLUMNS = """
            , record_version, owner, token, fingerprint, created_at, completed_at, lease_until, expires_at, result""";

    private static final String LOCK_AND_READ = """
            select pg_try_advisory_xact_lock(?);
            select %2$s, (extract(epoch from clock_timestamp()) * 1000)::bigint
            from %1$s where id = ?
            """;

    // Under SERIALIZABLE a read of a key that is absent makes us conflict with strangers whose keys are its neighbours.
    private static final String READ_UNLESS_SERIALIZABLE = """
            select current_setting('transaction_isolation');
            select %2$s, (extract(epoch from clock_timestamp()) * 1000)::bigint
            from %1$s where id = ? and current_setting('transaction_isolation') <> 'serializable'
            """;

    private static final String LOCK_AND_INSERT = """
            with clock as materialized (
                select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
            ), gate as materialized (
                select pg_try_advisory_xact_lock(?) as passed
            ), inserted as (
                insert into %1$s (id, record_version, token, state, operation, guarantee, owner, fingerprint,
                        completed_at, lease_until, expires_at, result, created_at)
                select ?, 1, 1, ?, ?, ?, ?::uuid, ?, now_ms + ?, now_ms + ?, now_ms + ?, ?::bytea, now_ms
                from clock, gate where passed
                on conflict (id) do nothing
                returning token
            )
            select gate.passed, inserted.token is not null from gate left join inserted on true
            """;

    private static final String COMPLETE_IN_TRANSACTION = """
            with clock as materialized (
                select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
            )
            insert into %1$s as r (id, record_version, token, state, operation, guarantee, owner, fingerprint,
                    completed_at, lease_until, expires_at, result, created_at)
            select ?, 1, ?, ?, ?, ?, ?::uuid, ?, now_ms + ?, now_ms + ?, now_ms + ?, ?::bytea,
                    (extract(epoch from transaction_timestamp()) * 1000)::bigint
            from clock
            on conflict (id) do update
            set token = excluded.token, state = excluded.state, operation = excluded.operation,
                guarantee = excluded.guarantee, owner = excluded.owner, fingerprint = excluded.fingerprint,
                completed_at = excluded.completed_at, lease_until = excluded.lease_until,
                expires_at = excluded.expires_at, result = excluded.result,
                created_at = case when r.owner = excluded.owner then r.created_at else excluded.created_at end
            where r.record_version = 1
                and (r.state = 'D' and r.expires_at <= excluded.completed_at
                    or r.lease_until is null and r.owner = excluded.owner)
            """;

    private static final String WAIT_FOR_LOCK = "select pg_advisory_xact_lock(?)";

    private static final String DURABILITY = "select current_setting('synchronous_commit'), current_setting('fsync')";

    private final String name;
    private final byte[] lockPrefix;
    private final String insertOrRead;
    private final String insertOrReadAlone;
    private final String read;
    private final String take;
    private final String complete;
    private final String renew;
    private final String release;
    private final String removePlaceholder;
    private final String remove;
    private final String purgeLag;
    private final TableName table;
    private final String lockAndRead;
    private final String readUnlessSerializable;
    private final String lockAndInsert;
    private final String completeInTransaction;

    PostgreSqlDialect(int majorVersion, TableName table) {
        this.name = "PostgreSQL " + majorVersion;
        this.lockPrefix = table.text().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
        this.insertOrRead = INSERT_OR_READ.formatted(table.text(), Row.COLUMNS, "pg_try_advisory_xact_lock_shared");
        this.insertOrReadAlone = INSERT_OR_READ.formatted(table.text(), Row.COLUMNS, "pg_try_advisory_xact_lock");
        this.read = READ.formatted(table.text(), Row.COLUMNS);
        this.take = TAKE.formatted(table.text());
        this.complete = COMPLETE.formatted(table.text());
        this.renew = RENEW.formatted(table.text());
        this.release = RELEASE.formatted(table.text());
        this.removePlaceholder = REMOVE_PLACEHOLDER.formatted(table.text());
        this.remove = REMOVE.formatted(table.text());
        this.purgeLag = PURGE_LAG.formatted(table.text());
        this.table = table;
        this.lockAndRead = LOCK_AND_READ.formatted(table.text(), Row.COLUMNS);
        this.readUnlessSerializable = READ_UNLESS_SERIALIZABLE.formatted(table.text(), Row.COLUMNS);
        this.lockAndInsert = LOCK_AND_INSERT.formatted(table.text());
        this.completeInTransaction = COMPLETE_IN_TRANSACTION.formatted(table.text());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String platform() {
        return "postgresql";
    }

    @Override
    public ClaimMode claimMode() {
        return ClaimMode.JOINED;
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
        return limit(connection, timeout);
    }

    @Override
    public Found insertOrRead(Session session, RecordId id, Entry entry) throws SQLException {
        return insertOrRead(session, insertOrRead, id, entry);
    }

    private Found insertOrRead(Session session, String sql, RecordId id, Entry entry) throws SQLException {
        try (PreparedStatement statement = session.prepare(sql)) {
            statement.setBytes(1, id.bytes());
            statement.setLong(2, lockKey(id));
            statement.setBytes(3, id.bytes());
            entry.bind(statement, 4, OwnerColumn.UUID_TYPE);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                boolean passed = rows.getBoolean(1);
                boolean seen = rows.wasNull();
                if (seen) {
                    return Found.row(Row.read(id, rows, 3, OwnerColumn.UUID_TYPE));
                }
                if (!passed) {
                    return Found.HELD;
                }
                return rows.getBoolean(2) ? Found.INSERTED : Found.UNSEEN;
            }
        }
    }

    @Override
    public @Nullable Row read(Session session, RecordId id) throws SQLException {
        try (PreparedStatement statement = session.prepare(read)) {
            statement.setBytes(1, id.bytes());
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? Row.read(id, rows, 1, OwnerColumn.UUID_TYPE) : null;
            }
        }
    }

    @Override
    public OptionalLong take(Session session, ClaimRequest request, Entry entry) throws SQLException {
        return take(session, request, entry, false);
    }

    @Override
    public OptionalLong takeInTransaction(Session session, ClaimRequest request, Entry entry) throws SQLException {
        return take(session, request, entry, true);
    }

    private OptionalLong take(Session session, ClaimRequest request, Entry entry, boolean keepsLock)
            throws SQLException {
        long lockKey = lockKey(request.id());
        try (PreparedStatement statement = session.prepare(take)) {
            statement.setBoolean(1, keepsLock);
            statement.setLong(2, lockKey);
            statement.setLong(3, lockKey);
            statement.setBytes(4, request.id().bytes());
            OwnerColumn.UUID_TYPE.bind(statement, 5, request.takeOverFrom());
            entry.bind(statement, 6, OwnerColumn.UUID_TYPE);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? OptionalLong.of(rows.getLong(1)) : OptionalLong.empty();
            }
        }
    }

    @Override
    public boolean complete(Session session, Lease lease, Entry done) throws SQLException {
        try (PreparedStatement statement = session.prepare(complete)) {
            bindOwn(statement, lease);
            statement.setLong(3, done.expiresIn());
            Entry.bindResult(statement, 4, done.result());
            return statement.executeUpdate() == 1;
        }
    }

    @Override
    public boolean renew(Session session, Lease lease) throws SQLException {
        Entry leased = Entry.leased(lease.request());
        try (PreparedStatement statement = session.prepare(renew)) {
            bindOwn(statement, lease);
            Entry.bindMillis(statement, 3, leased.leaseEndsIn());
            statement.setLong(4, leased.expiresIn());
            return statement.executeUpdate() == 1;
        }
    }

    @Override
    public boolean release(Session session, Lease lease) throws SQLException {
        try (PreparedStatement statement = session.prepare(release)) {
            bindOwn(statement, lease);
            return statement.executeUpdate() == 1;
        }
    }

    private static void bindOwn(PreparedStatement statement, Lease lease) throws SQLException {
        statement.setBytes(1, lease.id().bytes());
        statement.setObject(2, lease.owner().value());
    }

    @Override
    public boolean removePlaceholder(Session session, RecordId id) throws SQLException {
        return update(session, removePlaceholder, id);
    }

    @Override
    public boolean remove(Session session, RecordId id) throws SQLException {
        return update(session, remove, id);
    }

    private static boolean update(Session session, String sql, RecordId id) throws SQLException {
        try (PreparedStatement statement = session.prepare(sql)) {
            statement.setBytes(1, id.bytes());
            return statement.executeUpdate() == 1;
        }
    }

    @Override
    public Purged purge(Session session, int batchSize, @Nullable TableName archive) throws SQLException {
        String purge = archive == null
                ? PURGE.formatted(table.text(), "", "")
                : PURGE.formatted(table.text(), FURTHER_COLUMNS, ARCHIVED.formatted(archive.text(), Row.COLUMNS));
        return session.readCommitted(readCommitted -> {
            try (PreparedStatement statement = readCommitted.prepare(purge)) {
                statement.setInt(1, batchSize);
                try (ResultSet rows = statement.executeQuery()) {
                    int count = 0;
                    List<Unresolved> unresolved = new ArrayList<>();
                    while (rows.next()) {
                        count = rows.getInt(1);
                        byte[] id = rows.getBytes(2);
                        if (id != null) {
                            unresolved.add(new Unresolved(RecordId.ofBytes(id), rows.getString(3)));
                        }
                    }
                    return new Purged(count, unresolved);
                }
            }
        });
    }

    @Override
    public Duration purgeLag(Session session) throws SQLException {
        return Row.millis(session, purgeLag);
    }

    // Whoever holds the lock when we get it, the transaction that we ask about has ended by then: the lock need not be
    // kept.
    @Override
    public CommitProbe probe(Session session, Lease lease, Duration timeout) throws SQLException {
        try (PreparedStatement statement = session.prepare(WAIT_FOR_LOCK)) {
            statement.setLong(1, lockKey(lease.id()));
            statement.execute();
        }
        Row row = read(session, lease.id());
        return row != null && row.doneBy(lease.owner()) ? CommitProbe.COMMITTED : CommitProbe.ROLLED_BACK;
    }

    @Override
    public List<String> durabilityWarnings(Session session) throws SQLException {
        List<String> warnings = new ArrayList<>();
        try (PreparedStatement statement = session.prepare(DURABILITY);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            if ("off".equals(rows.getString(1))) {
                warnings.add(
                        "synchronous_commit is off: a crash of the PostgreSQL server can undo calls that were answered");
            }
            if ("off".equals(rows.getString(2))) {
                warnings.add("fsync is off: a crash of the machine can destroy the PostgreSQL database");
            }
        }
        return warnings;
    }

    @Override
    public ClaimResult claimJoined(Session session, ClaimRequest request, Entry entry, boolean serializable)
            throws SQLException {
        return serializable
                ? afterInsert(session, request, entry, lockAndInsert(session, request.id(), entry))
                : claimReading(session, request, entry);
    }

    // What is done by its claim is inserted at once; what is not, when it is done.
    private ClaimResult claimReading(Session session, ClaimRequest request, Entry entry) throws SQLException {
        return entry.isDone()
                ? afterInsert(session, request, entry, insertOrRead(session, insertOrReadAlone, request.id(), entry))
                : claimByLock(session, request, entry);
    }

    private ClaimResult claimByLock(Session session, ClaimRequest request, Entry entry) throws SQLException {
        try (PreparedStatement statement = session.prepare(lockAndRead)) {
            statement.setLong(1, lockKey(request.id()));
            statement.setBytes(2, request.id().bytes());
            statement.execute();
            boolean locked;
            try (ResultSet rows = statement.getResultSet()) {
                locked = rows.next() && rows.getBoolean(1);
            }
            statement.getMoreResults();
            Row row;
            try (ResultSet rows = statement.getResultSet()) {
                row = rows.next() ? Row.read(request.id(), rows, 1, OwnerColumn.UUID_TYPE) : null;
            }
            return judge(session, request, entry, locked, row);
        }
    }

    // The row comes first: what is done is done, whoever holds the lock.
    private ClaimResult judge(Session session, ClaimRequest request, Entry entry, boolean locked, @Nullable Row row)
            throws SQLException {
        ClaimResult answer = row == null ? null : row.answerTo(request);
        if (answer != null) {
            return answer;
        }
        if (!locked) {
            return Row.HELD;
        }
        if (row == null || row.toRecord().done()) {
            return Row.claimed(request, 1);
        }
        return takeOrHeld(session, request, entry);
    }

    private ClaimResult takeOrHeld(Session session, ClaimRequest request, Entry entry) throws SQLException {
        OptionalLong token = takeInTransaction(session, request, entry);
        return token.isPresent() ? Row.claimed(request, token.getAsLong()) : Row.HELD;
    }

    private Found lockAndInsert(Session session, RecordId id, Entry entry) throws SQLException {
        try (PreparedStatement statement = session.prepare(lockAndInsert)) {
            statement.setLong(1, lockKey(id));
            statement.setBytes(2, id.bytes());
            entry.bind(statement, 3, OwnerColumn.UUID_TYPE);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                if (rows.getBoolean(2)) {
                    return Found.INSERTED;
                }
                return rows.getBoolean(1) ? Found.UNSEEN : Found.HELD;
            }
        }
    }

    private ClaimResult afterInsert(Session session, ClaimRequest request, Entry entry, Found found)
            throws SQLException {
        if (found.inserted()) {
            return Row.claimed(request, 1);
        }
        if (found.held()) {
            return Row.HELD;
        }
        Row row = found.row() == null ? read(session, request.id()) : found.row();
        ClaimResult answer = row == null ? null : row.answerTo(request);
        if (answer != null) {
            return answer;
        }
        return row == null ? new ClaimResult.Contended() : takeOrHeld(session, request, entry);
    }

    @Override
    public ClaimResult claimInOpen(Session session, ClaimRequest request, Entry entry) throws SQLException {
        String isolation;
        Row row;
        try (PreparedStatement statement = session.prepare(readUnlessSerializable)) {
            statement.setBytes(1, request.id().bytes());
            statement.execute();
            try (ResultSet rows = statement.getResultSet()) {
                rows.next();
                isolation = rows.getString(1);
            }
            statement.getMoreResults();
            try (ResultSet rows = statement.getResultSet()) {
                row = rows.next() ? Row.read(request.id(), rows, 1, OwnerColumn.UUID_TYPE) : null;
            }
        }
        ClaimResult answer = row == null ? null : row.answerTo(request);
        if (answer != null) {
            return answer;
        }
        return isolation.startsWith("read")
                ? claimReading(session, request, entry)
                : claimBehindSnapshot(session, request, entry);
    }

    // A winner that committed after this transaction's snapshot cannot be read in it, only bumped into; that must not
    // cost the application its transaction.
    private ClaimResult claimBehindSnapshot(Session session, ClaimRequest request, Entry entry) throws SQLException {
        Connection connection = session.connection();
        Savepoint savepoint = connection.setSavepoint();
        try {
            ClaimResult answer = afterInsert(session, request, entry, lockAndInsert(session, request.id(), entry));
            connection.releaseSavepoint(savepoint);
            return answer;
        } catch (SQLException e) {
            if (!SqlFailures.isConflict(e)) {
                throw e;
            }
            connection.rollback(savepoint);
            return new ClaimResult.Contended();
        }
    }

    @Override
    public WriteOutcome completeInTransaction(Session session, Lease lease, Entry done) throws SQLException {
        try (PreparedStatement statement = session.prepare(completeInTransaction)) {
            statement.setBytes(1, lease.id().bytes());
            statement.setLong(2, lease.token());
            done.bind(statement, 3, OwnerColumn.UUID_TYPE);
            return statement.executeUpdate() == 1 ? WriteOutcome.APPLIED : WriteOutcome.LOST;
        }
    }

    private long lockKey(RecordId id) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(lockPrefix);
            return ByteBuffer.wrap(digest.digest(id.bytes())).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is part of every Java platform", e);
        }
    }
}
