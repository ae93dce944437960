package io.idempotency.jdbc;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** One server for all tests of this JVM: the embedded one, or the one that the environment names. */
final class PostgresServer {

    static final String VARIABLE = "IDEMPOTENCY_TEST_PG_URL";

    private static final AtomicInteger DATABASES = new AtomicInteger();

    private static @Nullable PostgresServer started;

    private final String adminUrl;

    private PostgresServer(String adminUrl) {
        this.adminUrl = adminUrl;
    }

    static synchronized PostgresServer get() {
        if (started == null) {
            String external = System.getenv(VARIABLE);
            started = new PostgresServer(external == null || external.isBlank() ? embedded() : external);
        }
        return started;
    }

    private static String embedded() {
        try {
            EmbeddedPostgres server = EmbeddedPostgres.builder()
                    .setServerConfig("fsync", "off")
                    .setServerConfig("max_connections", "200")
                    .start();
            return server.getJdbcUrl("postgres", "postgres");
        } catch (IOException | RuntimeException e) {
            throw new IllegalStateException(
                    "The embedded PostgreSQL does not start here. Set " + VARIABLE
                            + " to the JDBC URL, with user and password, of a server on which databases may be created",
                    e);
        }
    }

    /** The URL of a new, empty database. */
    String newDatabase() {
        String name = "idempotency_test_" + ProcessHandle.current().pid() + "_" + DATABASES.incrementAndGet();
        try (Connection connection = DriverManager.getConnection(adminUrl);
                Statement statement = connection.createStatement()) {
            statement.execute("drop database if exists " + name);
            statement.execute("create database " + name);
        } catch (SQLException e) {
            throw new IllegalStateException(
                    "No database can be created on the PostgreSQL server (" + VARIABLE + ")", e);
        }
        return adminUrl.replaceFirst("/[^/?]*(\\?|$)", "/" + name + "$1");
    }
}
