package io.idempotency.jdbc;

class MariaDbJoinedStoreTests extends JdbcStoreTests {

    MariaDbJoinedStoreTests() {
        super(MariaDbDriver.NAME, ClaimMode.JOINED);
    }
}
