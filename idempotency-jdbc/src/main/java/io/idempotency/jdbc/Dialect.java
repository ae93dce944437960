package io.idempotency.jdbc;

import io.idempotency.jdbc.Connections.Limits;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.TransactionalStore.CommitProbe;
import io.idempotency.spi.WriteOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What the store does on one database. Another database is another class: its statements are its own, whole ones.
 *
 * <p>Nothing here waits for another attempt: what somebody has locked is passed over and counts as not there. The writes are
 * conditional, so that a caller may ask again after a zero.
 */
interface Dialect {

    /** Product and version, for example {@code PostgreSQL 16}. */
    String name();

    /** The folder of its migrations and the end of the name of its script, as Spring Boot calls the database. */
    String platform();

    /**
     * Whether the library's own transactions are READ COMMITTED where nothing else is said, because what the database does by default
     * locks more than the record.
     */
    default boolean readsCommitted() {
        return false;
    }

    /** What makes a table unusable although the statements of the store work on it. */
    default Optional<String> flawOfTable(Session session, TableName of) throws SQLException {
        return Optional.empty();
    }

    /** What {@link ClaimMode#AUTO} means. */
    ClaimMode claimMode();

    /** The query timeout of each statement; zero for none. */
    int queryTimeoutSeconds(Duration timeout);

    /** Puts limits on a connection that a transaction of the application uses. */
    Limits limit(Connection connection, Duration timeout) throws SQLException;

    /** Puts limits on a connection of our own, which is in auto-commit mode. */
    Limits limitOwn(Connection connection, Duration timeout) throws SQLException;

    // On connections of our own

    /** Inserts a record of the first token if there is no row, else reads the row. */
    Found insertOrRead(Session session, RecordId id, Entry entry) throws SQLException;

    /** The row, expired or not. */
    @Nullable
    Row read(Session session, RecordId id) throws SQLException;

    /**
     * The row as a transaction of the application may read it, without a lock and without waiting; {@code null} too where its
     * isolation does not allow that.
     */
    default @Nullable Row readInTransaction(Session session, RecordId id) throws SQLException {
        return read(session, id);
    }

    /**
     * Overwrites the row if nobody has locked it and the request may have it: expired, a placeholder, or the abandoned one that the
     * request names.
     *
     * @return the new token
     */
    OptionalLong take(Session session, ClaimRequest request, Entry entry) throws SQLException;

    /** PROCESSING of this owner, and not expired → the entry. */
    boolean complete(Session session, Lease lease, Entry done) throws SQLException;

    /** PROCESSING of this owner, and not expired → the same with a new lease. */
    boolean renew(Session session, Lease lease) throws SQLException;

    /** PROCESSING of this owner → absent. */
    boolean release(Session session, Lease lease) throws SQLException;

    /** A placeholder that nobody has locked → absent. */
    boolean removePlaceholder(Session session, RecordId id) throws SQLException;

    /** Anything that nobody has locked → absent. */
    boolean remove(Session session, RecordId id) throws SQLException;

    /**
     * Removes expired rows that nobody has locked.
     *
     * @param archive where they go
     */
    Purged purge(Session session, int batchSize, @Nullable TableName archive) throws SQLException;

    /** For how long the row has been expired that waits for the purge the longest. */
    Duration purgeLag(Session session) throws SQLException;

    /** Waits until the transaction of the lease has ended, for the time limit at most, and tells how. */
    CommitProbe probe(Session session, Lease lease, Duration timeout) throws SQLException;

    /** What weakens the durability of a commit on this database. */
    List<String> durabilityWarnings(Session session) throws SQLException;

    // In a transaction of the application

    /** {@link #take} by a transaction that keeps the row locked until it ends. */
    OptionalLong takeInTransaction(Session session, ClaimRequest request, Entry entry) throws SQLException;

    /**
     * A claim in a transaction of the library that has done nothing yet.
     *
     * @param entry what it writes; one that is not done may be left to {@link #completeInTransaction}
     */
    ClaimResult claimJoined(Session session, ClaimRequest request, Entry entry, boolean serializable)
            throws SQLException;

    /**
     * A claim in a transaction of which nothing is known. It stays usable.
     *
     * @param entry as in {@link #claimJoined}
     */
    ClaimResult claimInOpen(Session session, ClaimRequest request, Entry entry) throws SQLException;

    /** Stores what the transaction has claimed, done already or not. */
    WriteOutcome completeInTransaction(Session session, Lease lease, Entry done) throws SQLException;

    /**
     * What {@link #insertOrRead} met.
     *
     * @param inserted whether the row is ours
     * @param held whether a transaction holds the key without a row that could be seen
     * @param row what is there instead; {@code null} too if it appeared and could not be read yet
     */
    record Found(boolean inserted, boolean held, @Nullable Row row) {

        static final Found INSERTED = new Found(true, false, null);

        static final Found HELD = new Found(false, true, null);

        static final Found UNSEEN = new Found(false, false, null);

        static Found row(Row row) {
            return new Found(false, false, row);
        }
    }

    /**
     * What a purge removed.
     *
     * @param count all of them
     * @param unresolved the AT_MOST_ONCE ones of which nobody ever learnt the outcome
     */
    record Purged(int count, List<Unresolved> unresolved) {}

    /** A removed record without an outcome. */
    record Unresolved(RecordId id, String operation) {}
}
