package io.idempotency.jdbc;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Owner;
import io.idempotency.spi.StoredResult;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a claim writes. Times are milliseconds from the moment at which the database executes the statement.
 *
 * @param state {@link Row#PROCESSING} or {@link Row#DONE}
 * @param completedIn zero for a record that is done; {@code null} for one that is not
 * @param leaseEndsIn {@code null} without a lease
 * @param expiresIn until it counts as absent
 */
record Entry(
        String state,
        String operation,
        Guarantee guarantee,
        @Nullable Owner owner,
        Fingerprint fingerprint,
        @Nullable Long completedIn,
        @Nullable Long leaseEndsIn,
        long expiresIn,
        @Nullable StoredResult result) {

    private static final Duration LONGEST = Duration.ofDays(36_500);

    /** Processing, held by a lease. */
    static Entry leased(ClaimRequest request) {
        long lease = millis(request.lease());
        return processing(request, request.owner(), request.fingerprint(), lease, lease + millis(request.retention()));
    }

    /** Processing, held by the transaction that writes it. */
    static Entry heldByTransaction(ClaimRequest request) {
        return processing(request, request.owner(), request.fingerprint(), null, millis(request.retention()));
    }

    /** Processing, held by nobody: to be locked by a transaction. */
    static Entry placeholder(ClaimRequest request) {
        return processing(request, null, Fingerprint.NONE, null, millis(request.retention()));
    }

    private static Entry processing(
            ClaimRequest request, @Nullable Owner owner, Fingerprint fingerprint, @Nullable Long lease, long expiry) {
        return new Entry(
                Row.PROCESSING,
                request.operation(),
                request.guarantee(),
                owner,
                fingerprint,
                null,
                lease,
                expiry,
                null);
    }

    static Entry done(ClaimRequest request, StoredResult result, Duration retention) {
        return new Entry(
                Row.DONE,
                request.operation(),
                request.guarantee(),
                request.owner(),
                request.fingerprint(),
                0L,
                null,
                millis(retention),
                result);
    }

    boolean isDone() {
        return state.equals(Row.DONE);
    }

    private static long millis(Duration duration) {
        return (duration.compareTo(LONGEST) > 0 ? LONGEST : duration).toMillis();
    }

    /**
     * Binds state, operation, guarantee, owner, fingerprint, completion, lease, expiry and result, in this order.
     *
     * @return the index after the last one
     */
    int bind(PreparedStatement statement, int first, OwnerColumn ownerColumn) throws SQLException {
        int index = first;
        statement.setString(index++, state);
        statement.setString(index++, operation);
        statement.setString(index++, Row.letterOf(guarantee));
        ownerColumn.bind(statement, index++, owner);
        // Not as an empty text, which some databases take for null.
        statement.setString(index++, fingerprint.equals(Fingerprint.NONE) ? null : fingerprint.asText());
        bindMillis(statement, index++, completedIn);
        bindMillis(statement, index++, leaseEndsIn);
        statement.setLong(index++, expiresIn);
        bindResult(statement, index++, result);
        return index;
    }

    static void bindResult(PreparedStatement statement, int index, @Nullable StoredResult result) throws SQLException {
        if (result == null) {
            statement.setNull(index, Types.VARBINARY);
        } else {
            statement.setBytes(index, result.toBytes());
        }
    }

    static void bindMillis(PreparedStatement statement, int index, @Nullable Long millis) throws SQLException {
        if (millis == null) {
            statement.setNull(index, Types.BIGINT);
        } else {
            statement.setLong(index, millis);
        }
    }
}
