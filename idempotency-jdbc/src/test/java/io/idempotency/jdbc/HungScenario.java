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
import io.idempotency.it.servers.TcpProxy;
import io.idempotency.spi.Lease;
import io.idempotency.spi.TransactionalStore.CommitProbe;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;

/**
 * A database that does not answer: whatever is asked of the store fails in time.
 *
 * @param limit what that means, with room for a slow machine; without the guards it takes for ever
 */
record HungScenario(TestDatabase database, Duration limit) {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    /** The table is locked on one connection by the one statement and free again by the other one. */
    void lockedTable(ClaimMode mode, String lock, String unlock) throws SQLException {
        JdbcIdempotencyStore store = store(database.pool());
        Lease lease = leaseOf(store.tryClaim(leased(freshId())));
        try (Bench bench = new Bench(database.pool(), mode, -1, TIMEOUT)) {
            String key = UUID.randomUUID().toString();
            try (Connection locker = database.connect();
                    Statement statement = locker.createStatement()) {
                statement.execute(lock);

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
                statement.execute(unlock);
            }

            assertThat(database.businessRows(key)).isZero();
            assertThat(bench.pay(key, "second")).isEqualTo("second");
            assertThat(store.complete(lease, result("first"), LONG)).isNotNull();
        }
    }

    /** @param parameters what the URL of the database says besides */
    void silentNetwork(String parameters) {
        try (TcpProxy proxy = database.proxy();
                HikariDataSource pool = database.pool(config -> {
                    config.setJdbcUrl(database.urlThrough(proxy) + parameters);
                    config.setMaximumPoolSize(2);
                    config.setConnectionTimeout(2_000);
                })) {
            JdbcIdempotencyStore store = store(pool);
            store.tryClaim(leased(freshId()));
            proxy.silence();

            assertUnavailableInTime(() -> store.tryClaim(leased(freshId())));
        }
    }

    private static JdbcIdempotencyStore store(HikariDataSource pool) {
        return JdbcIdempotencyStore.builder(pool).queryTimeout(TIMEOUT).build();
    }

    private void assertUnavailableInTime(Runnable call) {
        long start = System.nanoTime();
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(call::run);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(limit);
    }
}
