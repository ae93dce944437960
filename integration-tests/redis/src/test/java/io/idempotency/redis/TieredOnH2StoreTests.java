package io.idempotency.redis;

import io.idempotency.test.IdempotencyStoreContract;
import io.idempotency.test.StoreFixture;
import io.idempotency.test.StoreFuzzContract;
import io.idempotency.test.TransactionalStoreContract;
import io.idempotency.test.TransactionalStoreFixture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/** H2 with Redis 7.0 before it. */
class TieredOnH2StoreTests {

    private static TieredBench bench;

    @BeforeAll
    static void open() {
        bench = TieredBench.onH2();
    }

    @AfterAll
    static void close() throws Exception {
        if (bench != null) {
            bench.close();
        }
    }

    @Nested
    class Contract extends IdempotencyStoreContract {

        @Override
        protected StoreFixture createFixture() {
            return bench.fixture();
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
