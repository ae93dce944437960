package io.idempotency.jdbc;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.TransactionConflictException;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.support.SQLStateSQLExceptionTranslator;

/**
 * What a failure of the database means, by SQLSTATE and by the vendor's code where no SQLSTATE says it. Message texts and exception
 * classes change with version, locale and driver; these do not.
 */
final class SqlFailures {

    private static final String DUPLICATE = "23505";

    /** MariaDB and MySQL, which have one SQLSTATE for every violation. */
    private static final int MYSQL_DUPLICATE = 1062;

    /** H2; MariaDB and MySQL; MySQL where it was not to wait at all. */
    private static final Set<Integer> LOCK_TIMEOUTS = Set.of(50200, 1205, 3572);

    /** MariaDB and MySQL: deadlock, record changed since the snapshot. */
    private static final Set<Integer> MYSQL_CONFLICTS = Set.of(1213, 1020);

    /** MariaDB and MySQL, without an SQLSTATE of their own: a column without a default, a value that its column cannot hold. */
    private static final Set<Integer> MYSQL_VIOLATIONS = Set.of(1364, 1366);

    private static final Set<String> CONFLICTS = Set.of("40001", "40P01");

    /** The transaction was aborted by an earlier statement, and the application went on. */
    private static final String ABORTED = "25P02";

    /** The statement itself is wrong or was refused: it had no effect, and the same will happen again. */
    private static final Set<String> REFUSED = Set.of("0A", "21", "22", "23", "42", "44", "54");

    private SqlFailures() {}

    static boolean isDuplicate(SQLException failure) {
        return DUPLICATE.equals(failure.getSQLState()) || failure.getErrorCode() == MYSQL_DUPLICATE;
    }

    static boolean isLockTimeout(SQLException failure) {
        return LOCK_TIMEOUTS.contains(failure.getErrorCode()) || "55P03".equals(failure.getSQLState());
    }

    /** Whether the transaction was ended in favour of another one. */
    static boolean isConflict(SQLException failure) {
        String state = failure.getSQLState();
        return (state != null && CONFLICTS.contains(state))
                || LOCK_TIMEOUTS.contains(failure.getErrorCode())
                || MYSQL_CONFLICTS.contains(failure.getErrorCode());
    }

    /** Whether it proves that the transaction it came from was rolled back. */
    static boolean provesRollback(SQLException failure) {
        String state = failure.getSQLState();
        return state != null && (state.startsWith("23") || state.equals(ABORTED) || state.equals("40002"));
    }

    /** Of a statement of the store on a connection of its own. */
    static RuntimeException outside(String task, SQLException failure) {
        return isRefused(failure) ? refused(task, failure) : unavailable(task, failure);
    }

    /** Of a statement of the store in a transaction of the application. */
    static RuntimeException inTransaction(String task, SQLException failure) {
        if (isConflict(failure)) {
            return new TransactionConflictException(task + " gave way to another transaction", failure);
        }
        return outside(task, failure);
    }

    static StoreUnavailableException unavailable(String task, @Nullable Throwable failure) {
        return new StoreUnavailableException(task + ": the database did not answer", failure);
    }

    /** The first one in the chain of causes. */
    static @Nullable SQLException in(Throwable failure) {
        Set<Throwable> seen = new HashSet<>();
        for (Throwable cause = failure; cause != null && seen.add(cause); cause = cause.getCause()) {
            if (cause instanceof SQLException found) {
                return found;
            }
        }
        return null;
    }

    private static boolean isRefused(SQLException failure) {
        String state = failure.getSQLState();
        return MYSQL_VIOLATIONS.contains(failure.getErrorCode())
                || (state != null
                        && state.length() == 5
                        && (REFUSED.contains(state.substring(0, 2)) || state.equals(ABORTED)));
    }

    private static DataAccessException refused(String task, SQLException failure) {
        if (MYSQL_VIOLATIONS.contains(failure.getErrorCode())) {
            return new DataIntegrityViolationException(task, failure);
        }
        DataAccessException translated = new SQLStateSQLExceptionTranslator().translate(task, null, failure);
        return translated != null ? translated : new UncategorizedSQLException(task, null, failure);
    }
}
