package io.idempotency.jdbc;

import io.idempotency.spi.RecordId;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

/**
 * MariaDB: it has a lock timeout of zero, for a single statement. That statement brings its time limit along, because it can carry one
 * list of settings only and the driver would put another before it.
 */
final class MariaDbDialect extends InnoDbDialect {

    private final String atOnce;

    MariaDbDialect(String version, TableName table, InnoDbSettings settings, Duration timeout) {
        super("MariaDB " + version, table, settings, "lock in share mode skip locked");
        this.atOnce = "set statement innodb_lock_wait_timeout = 0, max_statement_time = " + queryTimeoutSeconds(timeout)
                + " for ";
    }

    @Override
    public String platform() {
        return "mariadb";
    }

    @Override
    void insertAtOnce(Session session, RecordId id, Binder binder) throws SQLException {
        update(session, insert, binder);
    }

    @Override
    boolean changeUnlessLocked(Session session, RecordId id, String sql, Binder binder) throws SQLException {
        try {
            return update(session, sql, binder) == 1;
        } catch (SQLException e) {
            if (SqlFailures.isLockTimeout(e)) {
                return false;
            }
            throw e;
        }
    }

    private int update(Session session, String sql, Binder binder) throws SQLException {
        try (PreparedStatement statement = session.prepareWithoutTimeout(atOnce + sql)) {
            binder.bind(statement);
            return statement.executeUpdate();
        }
    }

    @Override
    String rowsById(TableName of, int count) {
        return of.text() + " as r force index (primary) where r.id in (?" + ", ?".repeat(count - 1) + ")";
    }
}
