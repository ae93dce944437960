package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.LONG;
import static io.idempotency.jdbc.Requests.exactlyOnce;
import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leaseOf;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.result;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The connections of a pool come back as they were. */
class ConnectionTests {

    // Case 43
    @ParameterizedTest
    @MethodSource("pools")
    void everyMethodWorksOnAnyPoolAndGivesConnectionsBackUnchanged(String product, boolean autoCommit, String isolation)
            throws SQLException {
        try (TestDatabase database = TestDatabase.of(product)) {
            HikariDataSource pool = database.pool(config -> {
                config.setAutoCommit(autoCommit);
                config.setTransactionIsolation(isolation);
                config.setMaximumPoolSize(2);
            });
            State before = states(pool).get(0);
            JdbcIdempotencyStore store = JdbcIdempotencyStore.builder(pool)
                    .claimMode(ClaimMode.SEPARATE)
                    .build();
            JdbcIdempotencyStore otherNode =
                    JdbcIdempotencyStore.builder(database.pool()).build();

            RecordId id = freshId();
            Lease lease = leaseOf(store.tryClaim(leased(id)));
            assertThat(otherNode.tryClaim(leased(id))).isInstanceOf(ClaimResult.InProgress.class);
            store.renew(lease);
            store.complete(lease, result("first"), LONG);
            assertThat(otherNode.tryClaim(leased(id))).isInstanceOf(ClaimResult.Done.class);
            assertThat(store.forget(id)).isTrue();
            assertThat(otherNode.find(id)).isEmpty();
            store.recordDone(leased(id), result("second"));
            assertThat(otherNode.find(id)).isPresent();
            RecordId other = freshId();
            store.beforeTransaction(exactlyOnce(other), false);
            assertThat(otherNode.find(other)).isPresent();
            store.afterRollback(new Lease(exactlyOnce(other), 1));
            assertThat(otherNode.find(other)).isEmpty();
            store.probe(new Lease(exactlyOnce(other), 1));
            store.purgeExpired(10);
            store.schema().createIfMissing();
            store.schema().verify();
            store.schema().durabilityWarnings();

            assertThat(states(pool)).containsOnly(before);
        }
    }

    private static List<Arguments> pools() {
        return TestDatabase.products().stream()
                .flatMap(product -> Stream.of(
                        Arguments.of(product, true, "TRANSACTION_READ_COMMITTED"),
                        Arguments.of(product, false, "TRANSACTION_READ_COMMITTED"),
                        Arguments.of(product, true, "TRANSACTION_READ_UNCOMMITTED"),
                        Arguments.of(product, true, "TRANSACTION_REPEATABLE_READ"),
                        Arguments.of(product, false, "TRANSACTION_SERIALIZABLE")))
                .toList();
    }

    private static List<State> states(HikariDataSource pool) throws SQLException {
        try (Connection one = pool.getConnection();
                Connection other = pool.getConnection()) {
            return List.of(State.of(one), State.of(other));
        }
    }

    private record State(
            boolean autoCommit,
            boolean readOnly,
            int isolation,
            int networkTimeout,
            long lockTimeout,
            int queryTimeout) {

        static State of(Connection connection) throws SQLException {
            String lockTimeout =
                    switch (connection.getMetaData().getDatabaseProductName()) {
                        case "H2" -> "call lock_timeout()";
                        case "PostgreSQL" -> "select 0";
                        default -> "select @@innodb_lock_wait_timeout";
                    };
            try (var statement = connection.createStatement()) {
                return new State(
                        connection.getAutoCommit(),
                        connection.isReadOnly(),
                        connection.getTransactionIsolation(),
                        connection.getNetworkTimeout(),
                        TestDatabase.number(connection, lockTimeout),
                        statement.getQueryTimeout());
            }
        }
    }
}
