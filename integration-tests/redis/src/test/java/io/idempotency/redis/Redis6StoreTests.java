package io.idempotency.redis;

/** Redis 6.2, which needs a script for its claims. */
class Redis6StoreTests extends RedisStoreTests {

    Redis6StoreTests() {
        super(RedisBench.onRedis6(Factories::impatientLettuce));
    }
}
