package io.idempotency.jdbc;

class H2JoinedStoreTests extends JdbcStoreTests {

    H2JoinedStoreTests() {
        super("H2", ClaimMode.JOINED);
    }
}
