package io.idempotency.redis;

import io.idempotency.test.StoreFixture;
import io.idempotency.test.StoreFuzzContract;
import io.idempotency.test.TransactionalStoreContract;
import io.idempotency.test.TransactionalStoreFixture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/** PostgreSQL with Redis 7.0 before it. What needs no transaction is tested on H2. */
class TieredOnPostgreSqlStoreTests {

    private static TieredBench bench;

    @BeforeAll
    static void open() throws Exception {
        bench = TieredBench.onPostgreSql();
    }

    @AfterAll
    static void close() throws Exception {
        if (bench != null) {
            bench.close();
        }
    }

    @Nested
    class Transactional extends TransactionalStoreContract {

        @Override
        protected TransactionalStoreFixture createFixture() {
            return bench.fixture();
        }
    }

    @Nested
    class Fuzz extends StoreFuzzContract {

        @Override
        protected StoreFixture createFixture() {
            return bench.fixture();
        }
    }
}
