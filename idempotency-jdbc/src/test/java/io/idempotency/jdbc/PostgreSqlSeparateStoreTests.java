package io.idempotency.jdbc;

class PostgreSqlSeparateStoreTests extends JdbcStoreTests {

    PostgreSqlSeparateStoreTests() {
        super("PostgreSQL", ClaimMode.SEPARATE);
    }
}
