package io.idempotency.jdbc;

class MariaDbByMySqlDriverSeparateStoreTests extends JdbcStoreTests {

    MariaDbByMySqlDriverSeparateStoreTests() {
        super(MySqlDriver.NAME, ClaimMode.SEPARATE);
    }
}
