package io.idempotency.jdbc;

import io.idempotency.spi.RecordId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * MySQL: its shortest lock timeout is a second, so that a lock has to be seen before a statement runs into it. What gets in between
 * costs that second.
 */
final class MySqlDialect extends InnoDbDialect {

    private static final String LOCKED = "select 1 from %1$s where id = ? for share nowait";

    private static final String SHORTEST_WAIT =
            "set @idempotency_lock_wait = @@session.innodb_lock_wait_timeout, session innodb_lock_wait_timeout = 1";

    private static final String WAIT_AS_BEFORE = "set session innodb_lock_wait_timeout = @idempotency_lock_wait";

    private final String locked;

    MySqlDialect(String version, TableName table, InnoDbSettings settings) {
        super("MySQL " + version, table, settings, "for share skip locked");
        this.locked = LOCKED.formatted(table.text());
    }

    @Override
    public String platform() {
        return "mysql";
    }

    @Override
    void insertAtOnce(Session session, RecordId id, Binder binder) throws SQLException {
        Connection connection = session.connection();
        if (connection.getAutoCommit()
                || connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED) {
            failIfLocked(session, id);
        }
        execute(connection, SHORTEST_WAIT);
        try (PreparedStatement statement = session.prepare(insert)) {
            binder.bind(statement);
            statement.executeUpdate();
        } finally {
            Connections.putBack(connection, () -> execute(connection, WAIT_AS_BEFORE));
        }
    }

    // In a stricter transaction it would lock the gap in which the row is missing.
    private void failIfLocked(Session session, RecordId id) throws SQLException {
        try (PreparedStatement statement = session.prepare(locked)) {
            statement.setBytes(1, id.bytes());
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
            }
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Override
    boolean changeUnlessLocked(Session session, RecordId id, String sql, Binder binder) throws SQLException {
        return session.inTransaction(own -> {
            if (lock(own, id) == null) {
                return false;
            }
            try (PreparedStatement statement = own.prepare(sql)) {
                binder.bind(statement);
                return statement.executeUpdate() == 1;
            }
        });
    }

    // An index that is forced may still be scanned.
    @Override
    String rowsById(TableName of, int count) {
        String row = "row(cast(? as binary(32)))";
        return "(values " + row + (", " + row).repeat(count - 1) + ") as named (id) straight_join " + of.text()
                + " as r on r.id = named.id";
    }
}
