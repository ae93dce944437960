package io.idempotency.jdbc;

import io.idempotency.it.servers.MariaDbProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** One server for all tests of this JVM: one that is started here, or the one that the environment names. */
final class MariaDbServer {

    private static final AtomicInteger DATABASES = new AtomicInteger();

    private static @Nullable MariaDbServer started;

    /** Without the driver's prefix. */
    private final String adminUrl;

    MariaDbServer(String adminUrl) {
        this.adminUrl = adminUrl.replaceFirst("^jdbc:(mariadb|mysql):", "");
    }

    static synchronized MariaDbServer get() {
        if (started == null) {
            String external = System.getenv(MariaDbProcess.URL_VARIABLE);
            started = new MariaDbServer(external == null || external.isBlank() ? own() : external);
        }
        return started;
    }

    private static String own() {
        try {
            Path data = Files.createDirectories(Path.of("target/mariadb-data"));
            MariaDbProcess process = new MariaDbProcess(Files.createTempDirectory(data, "tests"));
            process.start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
            return process.url();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A new database, by the driver of this name. */
    String newDatabase(String driver, String options) {
        String name = "idempotency_test_" + ProcessHandle.current().pid() + "_" + DATABASES.incrementAndGet();
        try (Connection connection = DriverManager.getConnection("jdbc:mariadb:" + adminUrl);
                Statement statement = connection.createStatement()) {
            statement.execute("drop database if exists " + name);
            statement.execute("create database " + name);
        } catch (SQLException e) {
            throw new IllegalStateException(
                    "No database can be created on the MariaDB server (" + MariaDbProcess.URL_VARIABLE + ")", e);
        }
        return "jdbc:" + driver + ":" + adminUrl.replaceFirst("/[^/?]*(\\?|$)", "/" + name + "$1") + options;
    }
}
