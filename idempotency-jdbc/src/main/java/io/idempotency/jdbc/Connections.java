package io.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The connections of the store: its own ones, and the one of the transaction that is open on the thread. */
final class Connections {

    private static final Logger log = LoggerFactory.getLogger(Connections.class);

    private final DataSource dataSource;
    private final DataSource own;
    private final Duration timeout;

    Connections(DataSource dataSource, Duration timeout) {
        this.dataSource = dataSource;
        // What is meant to be visible at once must not be written in the transaction that happens to be open.
        this.own = DataSources.outsideOfTransactions(dataSource);
        this.timeout = timeout;
    }

    Duration timeout() {
        return timeout;
    }

    /** Runs the work in auto-commit on a connection of its own, also inside an open transaction, and gives it back as it was. */
    <R extends @Nullable Object> R own(Dialect dialect, Session.Work<R> work) throws SQLException {
        return ownAutoCommit(connection -> {
            Limits limits = dialect.limitOwn(connection, timeout);
            return limited(dialect, connection, limits, work);
        });
    }

    /** The same before the database is known. */
    <R extends @Nullable Object> R ownAutoCommit(ConnectionWork<R> work) throws SQLException {
        Connection connection = own.getConnection();
        try {
            boolean autoCommit = connection.getAutoCommit();
            if (!autoCommit) {
                connection.setAutoCommit(true);
            }
            try {
                return work.run(connection);
            } finally {
                if (!autoCommit) {
                    putBack(connection, () -> connection.setAutoCommit(false));
                }
            }
        } finally {
            giveBack(connection);
        }
    }

    // A connection on which this fails is broken. Should it not be, nobody may get it changed.
    static void putBack(Connection connection, Limits limits) {
        try {
            if (!connection.isClosed()) {
                limits.lift();
            }
        } catch (SQLException e) {
            log.debug("The settings of a connection could not be restored, so it is given up", e);
            abort(connection);
        }
    }

    /** The state of the connection is not known: nobody may use it again. */
    static void abort(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            log.debug("A broken connection could not be aborted", e);
        }
    }

    private static void giveBack(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            log.debug("A connection could not be closed", e);
        }
    }

    /**
     * Runs the work on the connection of the transaction that is open on this thread.
     *
     * @throws IllegalStateException if there is none, or none on this store's database
     */
    <R extends @Nullable Object> R inTransaction(Dialect dialect, Session.Work<R> work) throws SQLException {
        DataSource bound = boundDataSource();
        Connection connection = connectionOf(bound);
        try {
            if (connection.getAutoCommit()) {
                throw new IllegalStateException(
                        "The connection that is bound to this thread is in auto-commit mode: no transaction is open on it");
            }
            return limited(dialect, connection, dialect.limit(connection, timeout), work);
        } finally {
            DataSourceUtils.releaseConnection(connection, bound);
        }
    }

    private static Connection connectionOf(DataSource bound) {
        try {
            return DataSourceUtils.getConnection(bound);
        } catch (CannotGetJdbcConnectionException e) {
            throw SqlFailures.unavailable("Work in the open transaction", e);
        }
    }

    private DataSource boundDataSource() {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            throw new IllegalStateException("No transaction is open on this thread");
        }
        if (TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder) {
            return dataSource;
        }
        for (Map.Entry<Object, Object> resource :
                TransactionSynchronizationManager.getResourceMap().entrySet()) {
            if (resource.getKey() instanceof DataSource candidate
                    && resource.getValue() instanceof ConnectionHolder
                    && DataSources.same(candidate, dataSource)) {
                return candidate;
            }
        }
        throw new IllegalStateException(
                "The transaction on this thread is not one of the DataSource that holds the idempotency records");
    }

    private <R extends @Nullable Object> R limited(
            Dialect dialect, Connection connection, Limits limits, Session.Work<R> work) throws SQLException {
        try {
            return work.run(new Session(connection, dialect.queryTimeoutSeconds(timeout)));
        } finally {
            putBack(connection, limits);
        }
    }

    /** Settings that were put on a connection. */
    @FunctionalInterface
    interface Limits {

        /** Puts back what was there before. */
        void lift() throws SQLException;
    }

    /** Work on a bare connection. */
    @FunctionalInterface
    interface ConnectionWork<R extends @Nullable Object> {

        R run(Connection connection) throws SQLException;
    }
}
