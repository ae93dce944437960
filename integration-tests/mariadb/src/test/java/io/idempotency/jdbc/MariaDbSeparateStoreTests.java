package io.idempotency.jdbc;

class MariaDbSeparateStoreTests extends JdbcStoreTests {

    MariaDbSeparateStoreTests() {
        super(MariaDbDriver.NAME, ClaimMode.SEPARATE);
    }
}
