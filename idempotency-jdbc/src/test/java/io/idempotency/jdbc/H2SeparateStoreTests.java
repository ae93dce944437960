package io.idempotency.jdbc;

class H2SeparateStoreTests extends JdbcStoreTests {

    H2SeparateStoreTests() {
        super("H2", ClaimMode.SEPARATE);
    }
}
