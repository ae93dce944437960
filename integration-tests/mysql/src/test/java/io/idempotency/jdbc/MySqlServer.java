package io.idempotency.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.mysql.MySQLContainer;

/** MySQL by its own driver: the server that the environment names, or one in a container. There are no binaries of it in jars. */
public final class MySqlServer implements TestServer {

    static final String NAME = "MySQL";

    private static final String VARIABLE = "IDEMPOTENCY_TEST_MYSQL_URL";
    private static final String IMAGE = "mysql:8.4";
    private static final String PASSWORD = "secret";

    /** Proxies of the tests have to read what is sent. */
    private static final String READABLE = "&sslMode=DISABLED&allowPublicKeyRetrieval=true";

    private static final AtomicInteger DATABASES = new AtomicInteger();

    private static String adminUrl;

    /** Whether there is one. */
    static boolean exists() {
        return isNamed() || DockerClientFactory.instance().isDockerAvailable();
    }

    private static boolean isNamed() {
        String url = System.getenv(VARIABLE);
        return url != null && !url.isBlank();
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String newDatabase() {
        String url = adminUrl();
        String name = "idempotency_test_" + ProcessHandle.current().pid() + "_" + DATABASES.incrementAndGet();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("drop database if exists " + name);
            statement.execute("create database " + name);
        } catch (SQLException e) {
            throw new IllegalStateException("No database can be created on the MySQL server (" + VARIABLE + ")", e);
        }
        return url.replaceFirst("/[^/?]*(\\?|$)", "/" + name + "$1") + READABLE;
    }

    private static synchronized String adminUrl() {
        if (adminUrl == null) {
            adminUrl = isNamed() ? System.getenv(VARIABLE) : inContainer();
        }
        return adminUrl;
    }

    // It is stopped when this process has ended.
    @SuppressWarnings("resource")
    private static String inContainer() {
        MySQLContainer container =
                new MySQLContainer(IMAGE).withUsername("root").withPassword(PASSWORD);
        container.start();
        return container.getJdbcUrl() + "?user=root&password=" + PASSWORD;
    }
}
