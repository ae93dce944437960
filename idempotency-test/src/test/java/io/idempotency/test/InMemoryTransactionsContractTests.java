package io.idempotency.test;

import org.junit.jupiter.api.Nested;

class InMemoryTransactionsContractTests {

    @Nested
    class Contract extends IdempotencyStoreContract {

        @Override
        protected StoreFixture createFixture() {
            return new InMemoryTransactions();
        }
    }

    @Nested
    class Transactional extends TransactionalStoreContract {

        @Override
        protected TransactionalStoreFixture createFixture() {
            return new InMemoryTransactions();
        }
    }

    @Nested
    class Fuzz extends StoreFuzzContract {

        @Override
        protected StoreFixture createFixture() {
            return new InMemoryTransactions();
        }
    }
}
