package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leased;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimResult;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JdbcSchemaTests {

    @AutoClose
    private static final TestDatabase h2 = TestDatabase.h2();

    @AutoClose
    private static final TestDatabase postgreSql = TestDatabase.postgreSql();

    @BeforeAll
    static void createRole() {
        postgreSql.execute("create role limited login password 'limited'");
    }

    @AfterAll
    static void dropRole() {
        postgreSql.execute("drop owned by limited");
        postgreSql.execute("drop role limited");
    }

    private static TestDatabase database(String product) {
        return product.equals("H2") ? h2 : postgreSql;
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void theCheckOfTheTableLeavesNothingBehind(String product) {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore.builder(database.pool()).build().schema().verify();

            assertThat(database.number("select count(*) from idempotency_record"))
                    .isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"H2, h2", "PostgreSQL, postgresql"})
    void missingTableIsToldWithEveryWayOut(String product, String platform) {
        JdbcSchema schema = store(database(product).pool(), "absent").schema();

        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(schema::verify)
                .withMessageContaining("absent")
                .withMessageContaining("is missing")
                .withMessageContaining(product.equals("H2") ? "PUBLIC" : "public")
                .withMessageContaining(product.equals("H2") ? "SA" : "postgres")
                .withMessageContaining("idempotency.jdbc.initialize-schema=always")
                .withMessageContaining("io/idempotency/jdbc/schema-" + platform + ".sql")
                .withMessageContaining("Flyway")
                .withMessageContaining(
                        "<sqlFile path=\"io/idempotency/jdbc/migration/" + platform + "/V1__idempotency_record.sql\"/>")
                .withMessageContaining("SELECT, INSERT, UPDATE and DELETE");
    }

    @ParameterizedTest
    @ValueSource(strings = {"select", "insert", "update", "delete"})
    void missingRightIsToldOnPostgreSql(String right) {
        postgreSql.execute("revoke all on idempotency_record from limited");
        postgreSql.execute("grant select, insert, update, delete on idempotency_record to limited");
        HikariDataSource limited = postgreSql.pool(config -> {
            config.setJdbcUrl(postgreSql.url().replaceAll("[?&](user|password)=[^&]*", ""));
            config.setUsername("limited");
            config.setPassword("limited");
        });
        JdbcSchema schema = store(limited, "idempotency_record").schema();
        assertThatCode(schema::verify).doesNotThrowAnyException();

        postgreSql.execute("revoke " + right + " on idempotency_record from limited");

        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(schema::verify)
                .withMessageContaining("user limited")
                .withMessageContaining("lacks a right");
    }

    @ParameterizedTest
    @ValueSource(strings = {"select", "insert", "update", "delete"})
    void missingRightIsToldOnH2(String right) {
        String user = "u" + UUID.randomUUID().toString().replace("-", "");
        h2.execute("create user " + user + " password ''");
        h2.execute("grant select, insert, update, delete on idempotency_record to " + user);
        HikariDataSource limited = h2.pool(config -> {
            config.setJdbcUrl(h2.url().replace(";DB_CLOSE_DELAY=-1", ""));
            config.setUsername(user);
        });
        JdbcSchema schema = store(limited, "idempotency_record").schema();
        assertThatCode(schema::verify).doesNotThrowAnyException();

        h2.execute("revoke " + right + " on idempotency_record from " + user);

        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(schema::verify)
                .withMessageContaining("lacks a right");
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void tableWithoutPrimaryKeyIsRefused(String product) {
        TestDatabase database = database(product);
        database.execute("create table keyless as select * from idempotency_record");

        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(() -> store(database.pool(), "keyless").schema().verify())
                .withMessageContaining("primary key");
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void tableThatLacksAColumnIsRefused(String product) {
        TestDatabase database = database(product);
        JdbcSchema schema = store(database.pool(), "narrow").schema();
        schema.createIfMissing();
        database.execute("alter table narrow drop column lease_until");

        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(schema::verify)
                .withMessageContaining("lacks a column");
    }

    // Case 64
    @ParameterizedTest
    @ValueSource(
            strings = {
                "idem; drop table users",
                "a\"b",
                "a`b",
                "a.b.c",
                "",
                " idem",
                "idem ",
                "1dem",
                "a-b",
                "idem--",
                ".idem",
                "ïdem"
            })
    void nameThatIsNoIdentifierNeverReachesTheDatabase(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JdbcIdempotencyStore.builder(h2.pool()).tableName(name))
                .withMessageContaining("idempotency.jdbc.table-name");
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 128, 200})
    void longNameIsRefused(int length) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JdbcIdempotencyStore.builder(h2.pool()).tableName("t".repeat(length)))
                .withMessageContaining("idempotency.jdbc.table-name");
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void reservedWordIsTold(String product) {
        JdbcSchema schema = store(database(product).pool(), "ORDER").schema();

        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(schema::verify)
                .withMessageContaining("means something else in SQL");
        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(schema::createIfMissing)
                .withMessageContaining("means something else in SQL");
    }

    @ParameterizedTest
    @CsvSource({
        "H2, other.idem",
        "PostgreSQL, other.idem",
        "H2, Mixed_Case",
        "PostgreSQL, Mixed_Case",
        "H2, with$dollar",
        "PostgreSQL, with$dollar",
    })
    void tableMayHaveAnotherNameAndASchema(String product, String name) {
        TestDatabase database = database(product);
        database.execute("create schema if not exists other");
        JdbcIdempotencyStore store = store(database.pool(), name);

        store.schema().createIfMissing();
        store.schema().verify();

        assertThat(store.tryClaim(leased(freshId()))).isInstanceOf(ClaimResult.Claimed.class);
        assertThat(database.number("select count(*) from " + name)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void longestNameHasItsIndex(String product) throws SQLException {
        TestDatabase database = database(product);
        String name = "t".repeat(63);
        store(database.pool(), name).schema().createIfMissing();

        try (Connection connection = database.connect();
                ResultSet indexes = connection
                        .getMetaData()
                        .getIndexInfo(
                                null,
                                null,
                                product.equals("H2") ? name.toUpperCase(java.util.Locale.ROOT) : name,
                                false,
                                true)) {
            List<String> columns = new ArrayList<>();
            while (indexes.next()) {
                columns.add(indexes.getString("COLUMN_NAME").toLowerCase(java.util.Locale.ROOT));
            }
            assertThat(columns).contains("id", "expires_at");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void schemaThatDoesNotExistIsTold(String product) {
        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(() ->
                        store(database(product).pool(), "nowhere.idem").schema().createIfMissing())
                .withMessageContaining("schema");
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void severalNodesCreateTheTableAtOnce(String product) {
        TestDatabase database = database(product);
        for (int round = 0; round < 5; round++) {
            String name = "raced_" + round;
            Bench.race(6, index -> {
                store(database.pool(), name).schema().createIfMissing();
                return true;
            });
            store(database.pool(), name).schema().verify();
        }
    }

    @ParameterizedTest
    @CsvSource({"H2, h2", "PostgreSQL, postgresql"})
    void migrationMakesTheSameTableAsTheScript(String product, String platform) throws IOException {
        JdbcSchema schema =
                store(database(product).pool(), "idempotency_record").schema();

        assertThat(schema.location()).isEqualTo("io/idempotency/jdbc/schema-" + platform + ".sql");
        assertThat(text(schema.migrationLocation()))
                .isEqualTo(text(schema.location()).replace(" if not exists", ""));
    }

    @Test
    void weakDurabilityIsTold(@TempDir Path folder) {
        HikariDataSource file =
                h2.pool(config -> config.setJdbcUrl("jdbc:h2:file:" + folder.resolve("test") + ";WRITE_DELAY=500"));
        HikariDataSource safeFile =
                h2.pool(config -> config.setJdbcUrl("jdbc:h2:file:" + folder.resolve("safe") + ";WRITE_DELAY=0"));
        HikariDataSource synchronous =
                postgreSql.pool(config -> config.setConnectionInitSql("set synchronous_commit = on"));
        HikariDataSource asynchronous =
                postgreSql.pool(config -> config.setConnectionInitSql("set synchronous_commit = off"));

        assertThat(warnings(file)).singleElement().asString().contains("WRITE_DELAY", "500");
        assertThat(warnings(safeFile)).isEmpty();
        assertThat(warnings(h2.pool())).isEmpty();
        assertThat(warnings(asynchronous)).anyMatch(warning -> warning.contains("synchronous_commit"));
        assertThat(warnings(synchronous)).noneMatch(warning -> warning.contains("synchronous_commit"));
    }

    @Test
    void unreachableDatabaseIsUnavailableAndNotMisjudged() {
        HikariDataSource closed = h2.pool(config -> {});
        closed.close();
        JdbcIdempotencyStore store = store(closed, "idempotency_record");

        assertThat(store.name()).isEqualTo("jdbc");
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> store.schema().verify());
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> store.schema().createIfMissing());
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> store.schema().durabilityWarnings());
    }

    private static List<String> warnings(DataSource dataSource) {
        return store(dataSource, "idempotency_record").schema().durabilityWarnings();
    }

    private static JdbcIdempotencyStore store(DataSource dataSource, String table) {
        return JdbcIdempotencyStore.builder(dataSource).tableName(table).build();
    }

    private static String text(String location) throws IOException {
        try (InputStream in = JdbcSchema.class.getClassLoader().getResourceAsStream(location)) {
            assertThat(in).isNotNull();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
