package io.idempotency.jdbc;

class PostgreSqlJoinedStoreTests extends JdbcStoreTests {

    PostgreSqlJoinedStoreTests() {
        super("PostgreSQL", ClaimMode.JOINED);
    }
}
