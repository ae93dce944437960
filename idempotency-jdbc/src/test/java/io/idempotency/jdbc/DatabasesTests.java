package io.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DatabasesTests {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    H2         | 2.3.232 (2024-08-11) | 2  |                                         | H2 2.3.232
                    H2         | 2.4.240 (2025-09-22) | 2  |                                         | H2 2.4.240
                    H2         | 3.0.1 (2030-01-01)   | 3  |                                         | H2 3.0.1
                    PostgreSQL | 12.22                | 12 | PostgreSQL 12.22 on x86_64-pc-linux-gnu | PostgreSQL 12
                    PostgreSQL | 18.4                 | 18 | PostgreSQL 18.4 on x86_64-pc-linux-gnu  | PostgreSQL 18
                    MariaDB    | 5.5.5-10.6.12-MariaDB | 10 | 10.6.12-MariaDB-1:10.6.12+maria~ubu2004 | MariaDB 10.6
                    MariaDB    | 12.1.2-MariaDB       | 12 | 12.1.2-MariaDB                          | MariaDB 12.1
                    MySQL      | 11.4.5-MariaDB-log   | 11 | 11.4.5-MariaDB-log                      | MariaDB 11.4
                    MySQL      | 8.0.43               | 8  | 8.0.43                                  | MySQL 8.0
                    MySQL      | 9.5.0-commercial     | 9  | 9.5.0-commercial                        | MySQL 9.5
                    MariaDB    | 8.4.0                | 8  | 8.4.0                                   | MySQL 8.4
                    """)
    void supportedDatabaseHasADialect(String product, String version, int major, String text, String name)
            throws SQLException {
        assertThat(dialect(product, version, major, text).name()).isEqualTo(name);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    H2         | 2.3.230 (2024-07-15)   | 2  |
                    H2         | 2.2.224 (2023-09-17)   | 2  |
                    H2         | 1.4.200 (2019-10-14)   | 1  |
                    PostgreSQL | 11.22                  | 11 | PostgreSQL 11.22 on x86_64-pc-linux-gnu
                    PostgreSQL | 13.0.0                 | 13 | CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu)
                    PostgreSQL | 15.2-YB-2.25.0.0-b0    | 15 | PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu
                    PostgreSQL | 12.12                  | 12 | PostgreSQL 12.12 (Greenplum Database 7.1.0) on x86_64
                    Oracle     | Oracle Database 23ai   | 23 |
                    MySQL      | 5.7.44-log             | 5  | 5.7.44-log
                    MySQL      | 8.0.11-TiDB-v7.5.1     | 8  | 8.0.11-TiDB-v7.5.1
                    MySQL      | 8.0.30-Vitess          | 8  | 8.0.30-Vitess
                    MySQL      | 10.5.28-MariaDB        | 10 | 10.5.28-MariaDB
                    MariaDB    | 10.5.28-MariaDB        | 10 | 10.5.28-MariaDB
                    MariaDB    | unknown                | 10 | unknown
                    """)
    void otherDatabaseIsRefusedWithTheListOfThoseThatWork(String product, String version, int major, String text) {
        assertThatExceptionOfType(UnsupportedDatabaseException.class)
                .isThrownBy(() -> dialect(product, version, major, text))
                .withMessageContaining("H2 2.3.232")
                .withMessageContaining("PostgreSQL 12")
                .withMessageContaining("MariaDB 10.6")
                .withMessageContaining("MySQL 8.0");
    }

    @Test
    void nameOfTheStoreSaysProductAndVersion() {
        try (TestDatabase database = TestDatabase.h2()) {
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            assertThat(store.name()).isEqualTo("jdbc");

            store.schema().verify();

            assertThat(store.name()).matches("jdbc\\(H2 \\d+\\.\\d+\\.\\d+\\)");
        }
    }

    private static Dialect dialect(String product, String version, int major, String text) throws SQLException {
        DatabaseMetaData metaData = answering(
                DatabaseMetaData.class,
                Map.of(
                        "getDatabaseProductName", product,
                        "getDatabaseProductVersion", version,
                        "getDatabaseMajorVersion", major));
        ResultSet rows = answering(
                ResultSet.class, Map.of("next", true, "getString", String.valueOf(text), "getBoolean", false));
        Statement statement = answering(Statement.class, Map.of("executeQuery", rows));
        Connection connection = answering(
                Connection.class,
                Map.of(
                        "getMetaData",
                        metaData,
                        "createStatement",
                        statement,
                        "getTransactionIsolation",
                        Connection.TRANSACTION_REPEATABLE_READ));
        return Databases.dialect(connection, new TableName(TableName.DEFAULT), Duration.ofSeconds(5));
    }

    private static <T> T answering(Class<T> type, Map<String, Object> answers) {
        return type.cast(Proxy.newProxyInstance(
                DatabasesTests.class.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> answers.get(method.getName())));
    }
}
