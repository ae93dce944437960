package io.idempotency.jdbc;

class MariaDbByMySqlDriverJoinedStoreTests extends JdbcStoreTests {

    MariaDbByMySqlDriverJoinedStoreTests() {
        super(MySqlDriver.NAME, ClaimMode.JOINED);
    }
}
