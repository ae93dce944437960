package io.idempotency.redis;

import io.idempotency.test.IdempotencyStoreContract;
import io.idempotency.test.StoreFixture;
import io.idempotency.test.StoreFuzzContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/** Redis 7.0 in cluster mode, by Lettuce. */
class LettuceClusterStoreTests {

    private static RedisBench bench;

    @BeforeAll
    static void open() {
        bench = RedisBench.onCluster(Factories::impatientLettuce);
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
    class Fuzz extends StoreFuzzContract {

        @Override
        protected StoreFixture createFixture() {
            return bench.fixture();
        }
    }
}
