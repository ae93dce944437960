package io.idempotency.jdbc;

import java.time.Duration;

@OnMySql
class MySqlJoinedStoreTests extends JdbcStoreTests {

    MySqlJoinedStoreTests() {
        super(MySqlServer.NAME, ClaimMode.JOINED);
    }

    // A stricter transaction than READ COMMITTED waits out the shortest lock timeout that there is, a second.
    @Override
    Duration atOnce() {
        return Duration.ofSeconds(2);
    }
}
