package io.idempotency.jdbc;

import io.idempotency.test.IdempotencyStoreContract;
import io.idempotency.test.StoreFixture;
import io.idempotency.test.StoreFuzzContract;
import io.idempotency.test.TransactionalStoreContract;
import io.idempotency.test.TransactionalStoreFixture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

class MariaDbByMySqlDriverJoinedStoreTests {

    private static TestDatabase database;

    @BeforeAll
    static void createDatabase() {
        database = TestDatabase.of(MySqlDriver.NAME);
    }

    @AfterAll
    static void closeDatabase() {
        database.close();
    }

    private static JdbcFixture fixture() {
        return new JdbcFixture(database, ClaimMode.JOINED);
    }

    @Nested
    class Contract extends IdempotencyStoreContract {

        @Override
        protected StoreFixture createFixture() {
            return fixture();
        }
    }

    @Nested
    class Transactions extends TransactionalStoreContract {

        @Override
        protected TransactionalStoreFixture createFixture() {
            return fixture();
        }
    }

    @Nested
    class Fuzz extends StoreFuzzContract {

        @Override
        protected StoreFixture createFixture() {
            return fixture();
        }
    }
}
