package io.idempotency.test;

import org.junit.jupiter.api.Nested;

class InMemoryStoreContractTests {

    @Nested
    class Contract extends IdempotencyStoreContract {

        @Override
        protected StoreFixture createFixture() {
            return new InMemoryStoreFixture();
        }
    }

    @Nested
    class Fuzz extends StoreFuzzContract {

        @Override
        protected StoreFixture createFixture() {
            return new InMemoryStoreFixture();
        }
    }
}
