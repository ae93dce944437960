package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.LONG;
import static io.idempotency.jdbc.Requests.exactlyOnce;
import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leaseOf;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.TransactionalStore.CommitProbe;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

// Case 63
class HungDatabaseTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    /** Room for a slow machine; without the guards it takes for ever. */
    private static final Duration LIMIT = Duration.ofSeconds(6);

    private static TestDatabase database;

    @BeforeAll
    static void createDatabase() {
        database = TestDatabase.postgreSql();
    }

    @AfterAll
    static void closeDatabase() {
        database.close();
    }

    @Test
    void lockedTableFailsClosedInTimeAndWorksAgainAfterwards() throws SQLException {
        JdbcIdempotencyStore store = JdbcIdempotencyStore.builder(database.pool())
                .queryTimeout(TIMEOUT)
                .build();
        Lease lease = leaseOf(store.tryClaim(leased(freshId())));
        try (Bench bench = new Bench(database.pool(), ClaimMode.JOINED, -1, TIMEOUT)) {
            String key = UUID.randomUUID().toString();
            try (Connection locker = database.connect();
                    Statement statement = locker.createStatement()) {
                locker.setAutoCommit(false);
                statement.execute("lock table idempotency_record in access exclusive mode");

                assertUnavailableInTime(() -> store.tryClaim(leased(freshId())));
                assertUnavailableInTime(() -> store.complete(lease, result("first"), LONG));
                assertUnavailableInTime(() -> store.renew(lease));
                assertUnavailableInTime(() -> store.release(lease));
                assertUnavailableInTime(() -> store.recordDone(leased(freshId()), result("first")));
                assertUnavailableInTime(() -> store.find(lease.id()));
                assertUnavailableInTime(() -> store.forget(lease.id()));
                assertUnavailableInTime(() -> store.purgeExpired(10));
                assertUnavailableInTime(() -> bench.pay(key, "first"));
                assertThat(store.probe(new Lease(exactlyOnce(freshId()), 1))).isEqualTo(CommitProbe.UNKNOWN);
                locker.rollback();
            }

            assertThat(database.businessRows(key)).isZero();
            assertThat(bench.pay(key, "second")).isEqualTo("second");
            assertThat(store.complete(lease, result("first"), LONG)).isNotNull();
        }
    }

    // A cancel request does not arrive either where the network swallows everything; the driver gives it a time of its
    // own.
    @Test
    void silentNetworkFailsClosedInTime() throws Exception {
        try (TcpProxy proxy = new TcpProxy(database.url());
                HikariDataSource pool = database.pool(config -> {
                    config.setJdbcUrl(proxy.url() + "&cancelSignalTimeout=1");
                    config.setMaximumPoolSize(2);
                    config.setConnectionTimeout(2000);
                })) {
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(pool).queryTimeout(TIMEOUT).build();
            store.tryClaim(leased(freshId()));
            proxy.silence();

            assertUnavailableInTime(() -> store.tryClaim(leased(freshId())));
        }
    }

    // What a restart of the server looks like to its clients.
    @Test
    void lostConnectionsAreReplacedWithoutARestartOfTheApplication() {
        JdbcIdempotencyStore store = JdbcIdempotencyStore.builder(database.pool())
                .queryTimeout(TIMEOUT)
                .build();
        store.tryClaim(leased(freshId()));
        database.execute("select pg_terminate_backend(pid) from pg_stat_activity"
                + " where datname = current_database() and pid <> pg_backend_pid()");

        ClaimResult answer = null;
        for (int i = 0; i < 20 && answer == null; i++) {
            try {
                answer = store.tryClaim(leased(freshId()));
            } catch (StoreUnavailableException e) {
                // A dead connection of the pool; it is not given out again.
            }
        }

        assertThat(answer).isInstanceOf(ClaimResult.Claimed.class);
    }

    private static void assertUnavailableInTime(Runnable call) {
        long start = System.nanoTime();
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(call::run);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LIMIT);
    }
}
