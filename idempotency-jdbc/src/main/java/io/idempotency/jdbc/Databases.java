package io.idempotency.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds out which database is behind a connection. */
final class Databases {

    /** {@code random_uuid(7)} is new in it: the only clock that goes on within a transaction. */
    private static final int[] OLDEST_H2 = {2, 3, 232};

    /** {@code as materialized} is new in it. */
    private static final int OLDEST_POSTGRESQL = 12;

    /** {@code skip locked} is new in it. */
    private static final int[] OLDEST_MARIADB = {10, 6};

    /** {@code skip locked} is new in it. */
    private static final int OLDEST_MYSQL = 8;

    private static final Pattern H2_VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+).*");

    private static final Pattern INNODB_VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\..*");

    private Databases() {}

    static Dialect dialect(Connection connection, TableName table, Duration timeout) throws SQLException {
        DatabaseMetaData metaData = connection.getMetaData();
        String product = metaData.getDatabaseProductName();
        if ("H2".equals(product)) {
            return h2(metaData.getDatabaseProductVersion(), table);
        }
        if ("PostgreSQL".equals(product)) {
            return postgreSql(connection, metaData.getDatabaseMajorVersion(), table);
        }
        if ("MariaDB".equals(product) || "MySQL".equals(product)) {
            return innoDb(connection, table, timeout);
        }
        throw new UnsupportedDatabaseException(product + " " + metaData.getDatabaseProductVersion());
    }

    private static Dialect h2(String version, TableName table) {
        Matcher parts = H2_VERSION.matcher(version);
        if (!parts.matches()) {
            throw new UnsupportedDatabaseException("H2 " + version);
        }
        for (int i = 0; i < OLDEST_H2.length; i++) {
            int part = Integer.parseInt(parts.group(i + 1));
            if (part < OLDEST_H2[i]) {
                throw new UnsupportedDatabaseException("H2 " + version);
            }
            if (part > OLDEST_H2[i]) {
                break;
            }
        }
        return new H2Dialect(parts.group(1) + "." + parts.group(2) + "." + parts.group(3), table);
    }

    // Others speak its protocol under its name, but their locks are not the same.
    private static Dialect postgreSql(Connection connection, int majorVersion, TableName table) throws SQLException {
        String version = version(connection);
        String lowerCase = version.toLowerCase(Locale.ROOT);
        if (!version.startsWith("PostgreSQL ")
                || lowerCase.contains("-yb-")
                || lowerCase.contains("greenplum")
                || lowerCase.contains("redshift")
                || majorVersion < OLDEST_POSTGRESQL) {
            throw new UnsupportedDatabaseException(version);
        }
        return new PostgreSqlDialect(majorVersion, table);
    }

    // The driver of the one works on the other, and calls it by its own name.
    private static Dialect innoDb(Connection connection, TableName table, Duration timeout) throws SQLException {
        String version = version(connection);
        String lowerCase = version.toLowerCase(Locale.ROOT);
        boolean mariaDb = lowerCase.contains("mariadb");
        String found = (mariaDb ? "MariaDB " : "MySQL ") + version;
        Matcher parts = INNODB_VERSION.matcher(version);
        if (!parts.matches()
                || lowerCase.contains("tidb")
                || lowerCase.contains("oceanbase")
                || lowerCase.contains("vitess")) {
            throw new UnsupportedDatabaseException(found);
        }
        int major = Integer.parseInt(parts.group(1));
        int minor = Integer.parseInt(parts.group(2));
        boolean old = mariaDb
                ? major < OLDEST_MARIADB[0] || (major == OLDEST_MARIADB[0] && minor < OLDEST_MARIADB[1])
                : major < OLDEST_MYSQL;
        if (old) {
            throw new UnsupportedDatabaseException(found);
        }
        InnoDbSettings settings = InnoDbSettings.of(connection);
        String shortVersion = major + "." + minor;
        return mariaDb
                ? new MariaDbDialect(shortVersion, table, settings, timeout)
                : new MySqlDialect(shortVersion, table, settings);
    }

    private static String version(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select version()")) {
            rows.next();
            return rows.getString(1);
        }
    }
}
