package io.idempotency.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.TcpProxy;
import io.idempotency.spi.RecordId;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.ServiceLoader;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** A database for one test class, with the table of the store and one of the application. */
final class TestDatabase implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final String url;
    private final List<HikariDataSource> pools = new ArrayList<>();
    private final HikariDataSource pool;

    private TestDatabase(String url) {
        this.url = url;
        this.pool = pool(config -> config.setMaximumPoolSize(16));
        JdbcIdempotencyStore.builder(pool).build().schema().createIfMissing();
        execute("create table business (text varchar(100) not null)");
    }

    static TestDatabase h2() {
        return h2("");
    }

    static TestDatabase h2(String options) {
        return new TestDatabase("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1" + options);
    }

    static TestDatabase postgreSql() {
        return new TestDatabase(PostgresServer.get().newDatabase());
    }

    /** On an empty database. */
    static TestDatabase at(String url) {
        return new TestDatabase(url);
    }

    /** What tests of every database run on in this module. */
    static List<String> products() {
        List<String> others = ServiceLoader.load(TestServer.class).stream()
                .map(server -> server.get().name())
                .toList();
        return others.isEmpty() ? List.of("H2", "PostgreSQL") : others;
    }

    /** The same with each claim mode. */
    static List<Arguments> productsAndModes() {
        return products().stream()
                .flatMap(product ->
                        Stream.of(Arguments.of(product, ClaimMode.JOINED), Arguments.of(product, ClaimMode.SEPARATE)))
                .toList();
    }

    static TestDatabase of(String product) {
        return switch (product) {
            case "H2" -> h2();
            case "PostgreSQL" -> postgreSql();
            default ->
                ServiceLoader.load(TestServer.class).stream()
                        .map(ServiceLoader.Provider::get)
                        .filter(server -> server.name().equals(product))
                        .findFirst()
                        .map(server -> new TestDatabase(server.newDatabase()))
                        .orElseThrow(() -> new IllegalArgumentException(product));
        };
    }

    boolean isPostgreSql() {
        return url.startsWith("jdbc:postgresql:");
    }

    boolean isH2() {
        return url.startsWith("jdbc:h2:");
    }

    String url() {
        return url;
    }

    /** In front of its server. */
    TcpProxy proxy() {
        URI server = URI.create(url.substring("jdbc:".length()));
        return TcpProxy.to(server.getHost(), server.getPort());
    }

    String urlThrough(TcpProxy proxy) {
        return url.replaceFirst("//[^/]+/", "//127.0.0.1:" + proxy.port() + "/");
    }

    HikariDataSource pool() {
        return pool;
    }

    /** Another pool on it, closed with it. */
    HikariDataSource pool(Consumer<HikariConfig> settings) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        if (isH2()) {
            config.setUsername("sa");
        }
        config.setMinimumIdle(0);
        settings.accept(config);
        HikariDataSource created = new HikariDataSource(config);
        pools.add(created);
        return created;
    }

    /** A connection that belongs to no pool. */
    Connection connect() {
        try {
            return isH2() ? DriverManager.getConnection(url, "sa", "") : DriverManager.getConnection(url);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    void execute(String sql) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    long number(String sql) {
        try (Connection connection = connect()) {
            return number(connection, sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits until the answer to this question is more than zero. */
    void await(String sql) {
        long start = System.nanoTime();
        while (number(sql) == 0) {
            if (System.nanoTime() - start > PATIENCE.toNanos()) {
                throw new AssertionError("Still none after " + PATIENCE + ": " + sql);
            }
            LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
        }
    }

    static long number(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** Adds rows that expired at the times 1, 2, 3 … */
    void addExpired(int count) {
        String columns =
                "insert into idempotency_record (id, record_version, operation, state, guarantee, owner, token,"
                        + " fingerprint, created_at, completed_at, lease_until, expires_at, result) ";
        if (isH2()) {
            execute(columns + "select cast(X'" + "00".repeat(24) + "' || cast(x as binary(8)) as binary(32)),"
                    + " 1, 'purged', 'D', 'L', random_uuid(), 1, null, 1, 1, null, x, X'00' from system_range(1, "
                    + count
                    + ")");
        } else if (isPostgreSql()) {
            execute(columns + "select decode(lpad(to_hex(x), 64, '0'), 'hex'),"
                    + " 1, 'purged', 'D', 'L', gen_random_uuid(), 1, null, 1, 1, null, x, '\\x00'"
                    + " from generate_series(1, " + count + ") as x");
        } else {
            boolean isMariaDb = number("select version() like '%MariaDB%'") == 1;
            String numbers = isMariaDb
                    ? "select seq as x from seq_1_to_" + count
                    : "with recursive numbers (x) as (select 1 union all select x + 1 from numbers where x < " + count
                            + ") select /*+ set_var(cte_max_recursion_depth = 4000000000) */ x from numbers";
            execute(columns + "select unhex(lpad(hex(x), 64, '0')),"
                    + " 1, 'purged', 'D', 'L', unhex(left(sha2(x, 256), 32)), 1, null, 1, 1, null, x, X'00' from ("
                    + numbers
                    + ") as numbered");
        }
    }

    /** How this database writes the bytes of an id. */
    String literal(RecordId id) {
        String hex = HexFormat.of().formatHex(id.bytes());
        return isPostgreSql() ? "'\\x" + hex + "'" : "X'" + hex + "'";
    }

    long businessRows(String text) {
        return number("select count(*) from business where text = '" + text + "'");
    }

    @Override
    public void close() {
        pools.forEach(HikariDataSource::close);
    }
}
