package io.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.StoreUnavailableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.transaction.TransactionDefinition;

/** The connection breaks while a commit is on its way. */
class ProbeTests {

    @ParameterizedTest
    @MethodSource("io.idempotency.jdbc.TestDatabase#productsAndModes")
    void commitThatArrivedIsFoundOutAndItsResultReturned(String product, ClaimMode mode) {
        try (TestDatabase database = TestDatabase.of(product);
                Bench bench = bench(new Cut(database, Fate.COMMITTED), mode)) {
            String key = UUID.randomUUID().toString();

            assertThat(bench.pay(key, "first")).isEqualTo("first");

            assertThat(bench.pay(key, "second")).isEqualTo("first");
            assertThat(database.businessRows(key)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @MethodSource("io.idempotency.jdbc.TestDatabase#productsAndModes")
    void commitThatDidNotArriveIsFoundOutAndThrown(String product, ClaimMode mode) {
        try (TestDatabase database = TestDatabase.of(product);
                Bench bench = bench(new Cut(database, Fate.ROLLED_BACK), mode)) {
            String key = UUID.randomUUID().toString();

            assertThatExceptionOfType(DataAccessResourceFailureException.class)
                    .isThrownBy(() -> bench.pay(key, "first"));

            assertThat(database.businessRows(key)).isZero();
            assertThat(bench.pay(key, "second")).isEqualTo("second");
            assertThat(bench.pay(key, "third")).isEqualTo("second");
            assertThat(database.businessRows(key)).isEqualTo(1);
        }
    }

    // The server still has the transaction open: it may commit or roll back at any time, so neither is said.
    @ParameterizedTest
    @MethodSource("io.idempotency.jdbc.TestDatabase#productsAndModes")
    void commitThatIsStillUnderWayIsNotCalledRolledBack(String product, ClaimMode mode) throws SQLException {
        try (TestDatabase database = TestDatabase.of(product)) {
            Cut cut = new Cut(database, Fate.PENDING);
            try (Bench bench = bench(cut, mode)) {
                String key = UUID.randomUUID().toString();
                long start = System.nanoTime();

                assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> bench.pay(key, "first"));

                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
                cut.pending.commit();
                assertThat(bench.pay(key, "second")).isEqualTo("first");
                assertThat(database.businessRows(key)).isEqualTo(1);
            }
        }
    }

    private static Bench bench(DataSource dataSource, ClaimMode mode) {
        return new Bench(dataSource, mode, TransactionDefinition.ISOLATION_DEFAULT, Duration.ofSeconds(1));
    }

    private enum Fate {
        COMMITTED,
        ROLLED_BACK,
        PENDING
    }

    /** Loses the answer to the first commit, and with it the connection. */
    private static final class Cut extends Wires {

        private final Fate fate;
        private boolean done;
        private Connection pending;

        Cut(TestDatabase database, Fate fate) {
            super(fate == Fate.PENDING ? new Unpooled(database) : database.pool());
            this.fate = fate;
        }

        @Override
        void onCommit(Connection connection) throws SQLException {
            if (done) {
                connection.commit();
                return;
            }
            done = true;
            if (fate == Fate.COMMITTED) {
                connection.commit();
            } else if (fate == Fate.ROLLED_BACK) {
                connection.rollback();
            } else {
                pending = connection;
            }
            throw new SQLException("cut", "08006");
        }

        @Override
        boolean passes(String method, Connection connection) {
            return connection != pending;
        }
    }

    /** A pool would roll back what is returned to it. */
    private static final class Unpooled extends AbstractDataSource {

        private final TestDatabase database;

        Unpooled(TestDatabase database) {
            this.database = database;
        }

        @Override
        public Connection getConnection() {
            return database.connect();
        }

        @Override
        public Connection getConnection(String user, String password) {
            return database.connect();
        }
    }
}
