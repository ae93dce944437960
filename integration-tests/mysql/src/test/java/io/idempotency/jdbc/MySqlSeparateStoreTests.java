package io.idempotency.jdbc;

import java.time.Duration;

@OnMySql
class MySqlSeparateStoreTests extends JdbcStoreTests {

    MySqlSeparateStoreTests() {
        super(MySqlServer.NAME, ClaimMode.SEPARATE);
    }

    // A stricter transaction than READ COMMITTED waits out the shortest lock timeout that there is, a second.
    @Override
    Duration atOnce() {
        return Duration.ofSeconds(2);
    }
}
