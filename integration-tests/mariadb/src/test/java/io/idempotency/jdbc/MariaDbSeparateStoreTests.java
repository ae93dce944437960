package io.idempotency.jdbc;

import io.idempotency.test.IdempotencyStoreContract;
import io.idempotency.test.StoreFixture;
import io.idempotency.test.StoreFuzzContract;
import io.idempotency.test.TransactionalStoreContract;
import io.idempotency.test.TransactionalStoreFixture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

class MariaDbSeparateStoreTests {

    private static TestDatabase database;

    @BeforeAll
    static void createDatabase() {
        database = TestDatabase.of(MariaDbDriver.NAME);
    }

    @AfterAll
    static void closeDatabase() {
        database.close();
    }

    private static JdbcFixture fixture() {
        return new JdbcFixture(database, ClaimMode.SEPARATE);
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
