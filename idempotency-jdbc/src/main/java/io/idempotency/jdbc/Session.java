package io.idempotency.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A connection in use by the store. */
final class Session {

    private final Connection connection;
    private final int timeoutSeconds;

    Session(Connection connection, int timeoutSeconds) {
        this.connection = connection;
        this.timeoutSeconds = timeoutSeconds;
    }

    Connection connection() {
        return connection;
    }

    PreparedStatement prepare(String sql) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        try {
            if (timeoutSeconds > 0) {
                statement.setQueryTimeout(timeoutSeconds);
            }
            return statement;
        } catch (SQLException | RuntimeException e) {
            statement.close();
            throw e;
        }
    }

    /** For a statement that brings a limit of its own. */
    PreparedStatement prepareWithoutTimeout(String sql) throws SQLException {
        return connection.prepareStatement(sql);
    }

    /** Runs the work at READ COMMITTED. Only on a connection of our own. */
    <R extends @Nullable Object> R readCommitted(Work<R> work) throws SQLException {
        int before = connection.getTransactionIsolation();
        if (before == Connection.TRANSACTION_READ_COMMITTED) {
            return work.run(this);
        }
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        try {
            return work.run(this);
        } finally {
            Connections.putBack(connection, () -> connection.setTransactionIsolation(before));
        }
    }

    /** Only on a connection of our own. Part of a transaction that the session has already begun. */
    <R extends @Nullable Object> R inTransaction(Work<R> work) throws SQLException {
        return connection.getAutoCommit() ? inTransaction(work, true) : work.run(this);
    }

    /** Only on a connection of our own: nothing of what the work does remains. */
    <R extends @Nullable Object> R rolledBack(Work<R> work) throws SQLException {
        return inTransaction(work, false);
    }

    private <R extends @Nullable Object> R inTransaction(Work<R> work, boolean commit) throws SQLException {
        connection.setAutoCommit(false);
        R result;
        try {
            result = work.run(this);
            if (commit) {
                connection.commit();
            } else {
                connection.rollback();
            }
        } catch (SQLException | RuntimeException | Error failure) {
            rollBack(failure);
            throw failure;
        }
        connection.setAutoCommit(true);
        return result;
    }

    // Switching auto-commit on would commit what is left of a transaction that could not be rolled back.
    private void rollBack(Throwable failure) {
        try {
            connection.rollback();
            connection.setAutoCommit(true);
        } catch (SQLException e) {
            failure.addSuppressed(e);
            Connections.abort(connection);
        }
    }

    /** Work on a connection. */
    @FunctionalInterface
    interface Work<R extends @Nullable Object> {

        R run(Session session) throws SQLException;
    }
}
