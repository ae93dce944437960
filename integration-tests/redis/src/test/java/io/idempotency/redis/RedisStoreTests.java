package io.idempotency.redis;

import io.idempotency.test.IdempotencyStoreContract;
import io.idempotency.test.StoreFixture;
import io.idempotency.test.StoreFuzzContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;

/** What every store must do, on one kind of server and by one driver. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class RedisStoreTests {

    private final RedisBench bench;

    RedisStoreTests(RedisBench bench) {
        this.bench = bench;
    }

    @AfterAll
    void close() throws Exception {
        bench.close();
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
