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
import org.junit.jupiter.params.provider.MethodSource;

class PurgeTests {

    private static final String PRODUCTS = "io.idempotency.jdbc.TestDatabase#products";

    private static final int BATCH = 1000;

    /** For the million that a mere {@code mvn verify} has no time for. */
    private static final int EXPIRED = Integer.getInteger("idempotency.test.expired-rows", 200_000);

    // Case 57
    @ParameterizedTest
    @MethodSource(PRODUCTS)
    void twoNodesPurgeBesideClaims(String product) {
        int expired = List.of("PostgreSQL", "MariaDB").contains(product) ? EXPIRED : EXPIRED / 10;
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore first =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            JdbcIdempotencyStore second =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            database.addExpired(expired);
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
    @MethodSource(PRODUCTS)
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
    @MethodSource(PRODUCTS)
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
                    + database.literal(foreign));
            try (Connection locker = database.connect();
                    Statement statement = locker.createStatement()) {
                locker.setAutoCommit(false);
                statement.execute(
                        "select id from idempotency_record where operation <> 'foreign'" + " limit 1 for update");

                assertThat(store.purgeExpired(10)).isEqualTo(2);
                locker.rollback();
            }

            assertThat(store.purgeExpired(10)).isEqualTo(1);
            assertThat(store.purgeExpired(10)).isZero();
            assertThat(store.purgeLag()).as("what is kept does not wait").isZero();
            assertThat(store.tryClaim(leased(foreign))).isInstanceOf(ClaimResult.Unreadable.class);
            assertThat(store.recordDone(leased(foreign), result("mine"))).isInstanceOf(ClaimResult.Unreadable.class);
        }
    }

    // However such a row came about.
    @ParameterizedTest
    @MethodSource(PRODUCTS)
    void recordWhoseLeaseIsLiveStaysThoughItsRetentionIsOver(String product) {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            RecordId id = freshId();
            store.tryClaim(leased(id));
            database.execute("update idempotency_record set expires_at = 1");

            assertThat(store.purgeLag()).isZero();
            assertThat(store.purgeExpired(10)).isZero();
            assertThat(store.tryClaim(leased(id))).isInstanceOf(ClaimResult.InProgress.class);
        }
    }

    @ParameterizedTest
    @MethodSource(PRODUCTS)
    void lagIsThatOfTheRecordThatWaitsTheLongest(String product) {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            store.tryClaim(leased(freshId()));
            assertThat(store.purgeLag()).isZero();
            store.recordDone(leased(freshId()), result("old"));
            long expiresAt = database.number("select max(expires_at) from idempotency_record where state = 'D'");
            long hour = Duration.ofHours(1).toMillis();
            database.execute("update idempotency_record set expires_at = " + (expiresAt - LONG.toMillis() - hour)
                    + " where state = 'D'");
            RecordId younger = freshId();
            store.recordDone(leased(younger), result("younger"));
            database.execute("update idempotency_record set expires_at = " + (expiresAt - LONG.toMillis())
                    + " where id = " + database.literal(younger));

            assertThat(store.purgeLag()).isBetween(Duration.ofHours(1), Duration.ofMinutes(65));
            store.purgeExpired(10);
            assertThat(store.purgeLag()).isZero();
        }
    }
}
