package io.idempotency.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Settings of a server that change what its statements mean.
 *
 * @param readsUncommitted whether transactions are READ UNCOMMITTED that ask for nothing else
 * @param rollsBackOnTimeout whether a lock timeout rolls back the whole transaction
 */
record InnoDbSettings(boolean readsUncommitted, boolean rollsBackOnTimeout) {

    static InnoDbSettings of(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select @@innodb_rollback_on_timeout")) {
            rows.next();
            return new InnoDbSettings(
                    connection.getTransactionIsolation() == Connection.TRANSACTION_READ_UNCOMMITTED,
                    rows.getBoolean(1));
        }
    }
}
