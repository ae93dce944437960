package io.idempotency.jdbc;

import io.idempotency.test.IdempotencyStoreContract;
import io.idempotency.test.StoreFixture;
import io.idempotency.test.StoreFuzzContract;
import io.idempotency.test.TransactionalStoreContract;
import io.idempotency.test.TransactionalStoreFixture;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;

/** All contracts, on one database and with one claim mode. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class JdbcStoreTests {

    private final TestDatabase database;
    private final ClaimMode claimMode;

    JdbcStoreTests(String product, ClaimMode claimMode) {
        this.database = TestDatabase.of(product);
        this.claimMode = claimMode;
    }

    @AfterAll
    void closeDatabase() {
        database.close();
    }

    /** What counts as an answer at once. */
    Duration atOnce() {
        return Duration.ofMillis(500);
    }

    private JdbcFixture fixture() {
        return new JdbcFixture(database, claimMode);
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
        protected Duration atOnce() {
            return JdbcStoreTests.this.atOnce();
        }

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
