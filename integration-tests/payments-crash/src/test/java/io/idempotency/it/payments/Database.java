package io.idempotency.it.payments;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.UUID;

/** The databases that the sample runs on. */
enum Database {
    /** The sample's default: a file below the working directory. */
    H2 {
        @Override
        Instance create() {
            return new Instance(newDirectory(), Map.of());
        }
    },

    /** The sample's profile {@code postgres}. */
    POSTGRESQL {
        @Override
        Instance create() {
            return new Instance(newDirectory(), PostgresServer.newDatabase());
        }
    };

    /** A new, empty database. */
    abstract Instance create();

    private static Path newDirectory() {
        try {
            return Files.createTempDirectory(Files.createDirectories(Path.of("target", "payments")), "run-")
                    .toAbsolutePath();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * One database, which outlives the processes that work on it.
     *
     * @param directory working directory of the processes
     * @param environment what tells the sample where the database is
     */
    record Instance(Path directory, Map<String, String> environment) {}

    /** One server for all tests: the embedded one, or the one that the environment names. */
    private static final class PostgresServer {

        private static final String EXTERNAL = System.getenv("IDEMPOTENCY_TEST_PG_URL");
        private static final String ADMIN_URL = EXTERNAL == null || EXTERNAL.isBlank() ? startEmbedded() : EXTERNAL;

        private static Map<String, String> newDatabase() {
            String name = "payments_" + UUID.randomUUID().toString().replace('-', '_');
            try (Connection connection = DriverManager.getConnection(ADMIN_URL);
                    Statement statement = connection.createStatement()) {
                statement.execute("create database " + name);
            } catch (SQLException e) {
                throw new IllegalStateException("cannot create the database " + name, e);
            }
            // What the URL says about the user goes before the sample's own settings.
            return Map.of(
                    "SPRING_PROFILES_ACTIVE",
                    "postgres",
                    "SPRING_DATASOURCE_URL",
                    ADMIN_URL.replaceFirst("/[^/?]*(\\?|$)", "/" + name + "$1"));
        }

        private static String startEmbedded() {
            try {
                return EmbeddedPostgres.builder()
                        .setServerConfig("fsync", "off")
                        .setServerConfig("max_connections", "200")
                        .start()
                        .getJdbcUrl("postgres", "postgres");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
