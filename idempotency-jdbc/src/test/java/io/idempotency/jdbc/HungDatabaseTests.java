package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leased;
import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimResult;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

// Case 63
class HungDatabaseTests {

    private static final Duration LIMIT = Duration.ofSeconds(6);

    @AutoClose
    private static final TestDatabase database = TestDatabase.postgreSql();

    @Test
    void lockedTableFailsClosedInTimeAndWorksAgainAfterwards() throws SQLException {
        new HungScenario(database, LIMIT)
                .lockedTable(
                        ClaimMode.JOINED, "begin; lock table idempotency_record in access exclusive mode", "rollback");
    }

    // A cancel request does not arrive either where the network swallows everything; the driver gives it a time of its
    // own.
    @Test
    void silentNetworkFailsClosedInTime() {
        new HungScenario(database, LIMIT).silentNetwork("&cancelSignalTimeout=1");
    }

    // What a restart of the server looks like to its clients.
    @Test
    void lostConnectionsAreReplacedWithoutARestartOfTheApplication() {
        JdbcIdempotencyStore store = JdbcIdempotencyStore.builder(database.pool())
                .queryTimeout(Duration.ofSeconds(1))
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
}
