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
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

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
