package io.idempotency.jdbc;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A row as it was read, with the time of the database at which it was read. */
final class Row {

    static final String PROCESSING = "P";

    static final String DONE = "D";

    /** The format that this version writes, and the only one that it understands. */
    static final int VERSION = 1;

    /** Somebody holds the key in a transaction, and nothing of it can be seen. */
    static final ClaimResult HELD = new ClaimResult.InProgress(Fingerprint.NONE, null);

    /** What {@link #read} expects, in this order, before the time of the database. */
    static final String COLUMNS = """
            record_version, operation, state, guarantee, owner, token, fingerprint, \
            created_at, completed_at, lease_until, expires_at, result""";

    private final IdempotencyRecord row;
    private final boolean formatKnown;
    private final boolean expired;

    private Row(IdempotencyRecord row, boolean formatKnown) {
        this.row = row;
        this.formatKnown = formatKnown;
        Duration leaseLeft = row.leaseLeft();
        this.expired = formatKnown && !isPositive(row.expiresIn()) && (leaseLeft == null || !isPositive(leaseLeft));
    }

    /**
     * Reads the columns and the time of the database.
     *
     * @param first index of the first of them
     */
    static Row read(RecordId id, ResultSet rows, int first, OwnerColumn ownerColumn) throws SQLException {
        int version = rows.getInt(first);
        String operation = rows.getString(first + 1);
        String state = rows.getString(first + 2);
        Guarantee guarantee = guaranteeOf(rows.getString(first + 3));
        Owner owner = ownerColumn.read(rows, first + 4);
        long token = rows.getLong(first + 5);
        String fingerprintText = rows.getString(first + 6);
        Instant createdAt = Instant.ofEpochMilli(rows.getLong(first + 7));
        Long completedAt = nullableLong(rows, first + 8);
        Long leaseUntil = nullableLong(rows, first + 9);
        long expiresAt = rows.getLong(first + 10);
        byte[] bytes = rows.getBytes(first + 11);
        long now = rows.getLong(first + 12);

        boolean done = DONE.equals(state);
        String unreadable = null;
        if (version != VERSION
                || guarantee == null
                || (!done && !PROCESSING.equals(state))
                || (done && owner == null)) {
            unreadable = "record of an unknown format";
        }
        boolean formatKnown = unreadable == null;
        Fingerprint fingerprint = Fingerprint.NONE;
        StoredResult result = null;
        try {
            fingerprint = fingerprintText == null ? Fingerprint.NONE : Fingerprint.parse(fingerprintText);
            if (done && formatKnown) {
                result = StoredResult.fromBytes(bytes == null ? new byte[0] : bytes);
            }
        } catch (IllegalArgumentException e) {
            unreadable = unreadable == null ? e.getMessage() : unreadable;
        }
        return new Row(
                new IdempotencyRecord(
                        id,
                        operation,
                        guarantee == null ? Guarantee.AT_MOST_ONCE : guarantee,
                        done,
                        fingerprint,
                        owner,
                        token,
                        createdAt,
                        completedAt == null ? null : Instant.ofEpochMilli(completedAt),
                        leaseUntil == null ? null : Duration.ofMillis(leaseUntil - now),
                        Duration.ofMillis(expiresAt - now),
                        result,
                        unreadable),
                formatKnown);
    }

    /** The one number that a query answers; zero for null. */
    static Duration millis(Session session, String query) throws SQLException {
        try (PreparedStatement statement = session.prepare(query);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return Duration.ofMillis(rows.getLong(1));
        }
    }

    private static @Nullable Long nullableLong(ResultSet rows, int index) throws SQLException {
        long value = rows.getLong(index);
        return rows.wasNull() ? null : value;
    }

    static String letterOf(Guarantee guarantee) {
        return switch (guarantee) {
            case EXACTLY_ONCE -> "E";
            case AT_LEAST_ONCE -> "L";
            case AT_MOST_ONCE -> "M";
            case AUTO -> throw new IllegalArgumentException("AUTO is not a guarantee that a record can have");
        };
    }

    private static @Nullable Guarantee guaranteeOf(@Nullable String letter) {
        return Arrays.stream(Guarantee.values())
                .filter(guarantee ->
                        guarantee != Guarantee.AUTO && letterOf(guarantee).equals(letter))
                .findFirst()
                .orElse(null);
    }

    private static boolean isPositive(Duration duration) {
        return !duration.isZero() && !duration.isNegative();
    }

    /** What operators see; to be shown unless it is {@link #expired()}. */
    IdempotencyRecord toRecord() {
        return row;
    }

    /** Whether it counts as absent. What cannot be understood never does. */
    boolean expired() {
        return expired;
    }

    boolean doneBy(Owner owner) {
        return row.done() && owner.equals(row.owner());
    }

    boolean processingBy(Owner owner) {
        return formatKnown && !row.done() && owner.equals(row.owner());
    }

    /** Whether this owner has claimed it in a transaction: it has no lease, and its result may be there already. */
    boolean claimedInTransactionBy(Owner owner) {
        return formatKnown && row.leaseLeft() == null && owner.equals(row.owner());
    }

    /** Whether a transaction has to hold it, and any claim may take it that finds it unlocked. */
    boolean isPlaceholder() {
        return formatKnown && !row.done() && row.leaseLeft() == null;
    }

    /**
     * How the claim is answered, or {@code null} if it may take the row: one that has expired, a placeholder that nobody has locked,
     * or the abandoned one that the request names.
     */
    @Nullable
    ClaimResult answerTo(ClaimRequest request) {
        if (expired) {
            return null;
        }
        if (processingBy(request.owner())) {
            return claimed(request, row.token());
        }
        if (isPlaceholder() || (formatKnown && isAbandonedBy(request.takeOverFrom()))) {
            return null;
        }
        return row.asClaimResult();
    }

    private boolean isAbandonedBy(@Nullable Owner seen) {
        return row.abandoned() && seen != null && seen.equals(row.owner());
    }

    /** The token of an attempt that takes the row: it grows over a takeover only. */
    long nextToken() {
        return expired || isPlaceholder() ? 1 : row.token() + 1;
    }

    static ClaimResult claimed(ClaimRequest request, long token) {
        return new ClaimResult.Claimed(new Lease(request, token), token > 1);
    }
}
