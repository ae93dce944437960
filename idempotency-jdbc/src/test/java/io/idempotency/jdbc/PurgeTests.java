package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.LONG;
import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leaseOf;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.request;
import static io.idempotency.jdbc.Requests.result;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.RecordId;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PurgeTests {

    private static final int BATCH = 1000;

    private static final String H2_ROWS = """
            insert into idempotency_record (id, record_version, operation, state, guarantee, owner, token, fingerprint,
                    created_at, completed_at, lease_until, expires_at, result)
            select cast(X'000000000000000000000000000000000000000000000000' || cast(x as binary(8)) as binary(32)),
                    1, 'purged', 'D', 'L', random_uuid(), 1, '', 1, 1, null, x, X'00'
            from system_range(1, %d)
            """;

    private static final String POSTGRESQL_ROWS = """
            insert into idempotency_record (id, record_version, operation, state, guarantee, owner, token, fingerprint,
                    created_at, completed_at, lease_until, expires_at, result)
            select decode(lpad(to_hex(x), 64, '0'), 'hex'),
                    1, 'purged', 'D', 'L', gen_random_uuid(), 1, '', 1, 1, null, x, '\\x00'
            from generate_series(1, %d) as x
            """;

    // Case 57
    @ParameterizedTest
    @CsvSource({"H2, 20000", "PostgreSQL, 200000"})
    void twoNodesPurgeBesideClaims(String product, int expired) {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore first =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            JdbcIdempotencyStore second =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            database.execute((product.equals("H2") ? H2_ROWS : POSTGRESQL_ROWS).formatted(expired));
            List<RecordId> kept = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                RecordId processing = freshId();
                first.tryClaim(leased(processing));
                kept.add(processing);
                RecordId done = freshId();
                first.complete(leaseOf(first.tryClaim(leased(done))), result("kept"), LONG);
                kept.add(done);
            }
            database.execute("update idempotency_record set created_at = 1 where state = 'P'");
            List<Duration> claims = Collections.synchronizedList(new ArrayList<>());

            List<Integer> purged = Bench.race(3, index -> {
                if (index == 2) {
                    for (int i = 0; i < 500; i++) {
                        long start = System.nanoTime();
                        assertThat(first.tryClaim(leased(freshId()))).isInstanceOf(ClaimResult.Claimed.class);
                        claims.add(Duration.ofNanos(System.nanoTime() - start));
                    }
                    return 0;
                }
                JdbcIdempotencyStore node = index == 0 ? first : second;
                int sum = 0;
                int emptyHanded = 0;
                while (emptyHanded < 3) {
                    int removed = node.purgeExpired(BATCH);
                    assertThat(removed).isLessThanOrEqualTo(BATCH);
                    emptyHanded = removed == 0 ? emptyHanded + 1 : 0;
                    sum += removed;
                }
                return sum;
            });

            assertThat(purged.stream().mapToInt(Integer::intValue).sum()).isEqualTo(expired);
            assertThat(kept).allSatisfy(id -> assertThat(first.find(id)).isPresent());
            claims.sort(Duration::compareTo);
            assertThat(claims.get(claims.size() * 99 / 100 - 1)).isLessThan(Duration.ofSeconds(1));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void recordWithoutOutcomeIsReported(String product) {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            RecordId unresolved = freshId();
            store.tryClaim(request(unresolved, Guarantee.AT_MOST_ONCE, LONG, LONG));
            store.tryClaim(request(freshId(), Guarantee.AT_LEAST_ONCE, LONG, LONG));
            RecordId resolved = freshId();
            store.complete(
                    leaseOf(store.tryClaim(request(resolved, Guarantee.AT_MOST_ONCE, LONG, LONG))),
                    result("known"),
                    LONG);
            database.execute("update idempotency_record set expires_at = 2, lease_until = 1 where state = 'P'");
            database.execute("update idempotency_record set expires_at = 2 where state = 'D'");

            List<ILoggingEvent> events = Logs.of(
                    JdbcIdempotencyStore.class,
                    () -> assertThat(store.purgeExpired(10)).isEqualTo(3));

            assertThat(events)
                    .singleElement()
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .asString()
                    .contains(unresolved.toString(), Requests.OPERATION);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void lockedAndUnknownRecordsStay(String product) throws SQLException {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            for (int i = 0; i < 3; i++) {
                store.recordDone(leased(freshId()), result("old"));
            }
            RecordId foreign = freshId();
            store.recordDone(leased(foreign), result("of another version"));
            database.execute("update idempotency_record set expires_at = 2");
            database.execute("update idempotency_record set record_version = 2, operation = 'foreign'" + " where id = "
                    + literal(product, foreign));
            try (Connection locker = database.connect();
                    Statement statement = locker.createStatement()) {
                locker.setAutoCommit(false);
                statement.execute("select id from idempotency_record where operation <> 'foreign'"
                        + " fetch first 1 row only for update");

                assertThat(store.purgeExpired(10)).isEqualTo(2);
                locker.rollback();
            }

            assertThat(store.purgeExpired(10)).isEqualTo(1);
            assertThat(store.purgeExpired(10)).isZero();
            assertThat(store.tryClaim(leased(foreign))).isInstanceOf(ClaimResult.Unreadable.class);
            assertThat(store.recordDone(leased(foreign), result("mine"))).isInstanceOf(ClaimResult.Unreadable.class);
        }
    }

    private static String literal(String product, RecordId id) {
        String hex = java.util.HexFormat.of().formatHex(id.bytes());
        return product.equals("H2") ? "X'" + hex + "'" : "'\\x" + hex + "'";
    }
}
