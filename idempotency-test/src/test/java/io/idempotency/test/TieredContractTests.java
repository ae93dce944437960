package io.idempotency.test;

import org.junit.jupiter.api.Nested;

class TieredContractTests {

    @Nested
    class Contract extends IdempotencyStoreContract {

        @Override
        protected StoreFixture createFixture() {
            return new TieredFixture().warmedUp();
        }
    }

    @Nested
    class Transactional extends TransactionalStoreContract {

        @Override
        protected TransactionalStoreFixture createFixture() {
            return new TieredFixture().warmedUp();
        }
    }

    @Nested
    class Fuzz extends StoreFuzzContract {

        @Override
        protected StoreFixture createFixture() {
            return new TieredFixture().warmedUp();
        }
    }
}
