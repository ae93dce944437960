package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.LONG;
import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.RecordId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClockTests {

    // Case 49: the clock of PostgreSQL runs ahead on one connection pool, and the store goes by it and not by its own.
    @Test
    void onlyTheClockOfTheDatabaseDecides() {
        try (TestDatabase database = TestDatabase.postgreSql()) {
            database.execute("create schema ahead");
            database.execute("""
                    create function ahead.clock_timestamp() returns timestamptz volatile language sql
                    as $$ select pg_catalog.clock_timestamp() + interval '90 s' $$
                    """);
            DataSource ahead =
                    database.pool(config -> config.setConnectionInitSql("set search_path = ahead, pg_catalog, public"));
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            RecordId id = freshId();
            store.tryClaim(request(id, Guarantee.AT_LEAST_ONCE, Duration.ofSeconds(30), LONG));

            assertThat(store.tryClaim(leased(id))).isInstanceOf(ClaimResult.InProgress.class);
            assertThat(JdbcIdempotencyStore.builder(ahead).build().tryClaim(leased(id)))
                    .isInstanceOf(ClaimResult.Abandoned.class);
        }
    }

    // Case 51: each of the threads begins its rounds somewhere within a second.
    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void leaseOfAFractionOfASecondIsNeitherShorterNorLonger(String product) {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            Duration lease = Duration.ofMillis(400);

            Bench.race(10, index -> {
                for (int round = 0; round < 3; round++) {
                    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(300_000_000));
                    RecordId id = freshId();
                    long start = System.nanoTime();
                    var first = request(id, Guarantee.AT_LEAST_ONCE, lease, LONG);
                    store.tryClaim(first);
                    sleepUntil(start, Duration.ofMillis(150));
                    ClaimResult early = store.tryClaim(leased(id));
                    boolean inTime =
                            System.nanoTime() - start < Duration.ofMillis(350).toNanos();
                    sleepUntil(start, Duration.ofMillis(900));
                    ClaimResult late = store.tryClaim(leased(id).takingOverFrom(first.owner()));

                    if (inTime) {
                        assertThat(early).isInstanceOf(ClaimResult.InProgress.class);
                    }
                    assertThat(late)
                            .isInstanceOfSatisfying(
                                    ClaimResult.Claimed.class,
                                    claimed -> assertThat(claimed.takeover()).isTrue());
                }
                return true;
            });
        }
    }

    private static void sleepUntil(long start, Duration after) {
        for (long left; (left = after.toNanos() - (System.nanoTime() - start)) > 0; ) {
            LockSupport.parkNanos(left);
        }
    }

    @Test
    void timesOfARecordAreThoseOfTheDatabase() {
        for (String product : List.of("H2", "PostgreSQL")) {
            try (TestDatabase database = TestDatabase.of(product)) {
                JdbcIdempotencyStore store =
                        JdbcIdempotencyStore.builder(database.pool()).build();
                RecordId id = freshId();
                store.tryClaim(leased(id));

                long seconds = database.number("select extract(epoch from current_timestamp)");

                assertThat(store.find(id).orElseThrow().createdAt().getEpochSecond())
                        .isBetween(seconds - 60, seconds + 1);
            }
        }
    }
}
