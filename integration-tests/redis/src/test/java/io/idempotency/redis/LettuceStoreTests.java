package io.idempotency.redis;

/** Redis 7.0 by Lettuce, or the server that was named for the tests. */
class LettuceStoreTests extends RedisStoreTests {

    LettuceStoreTests() {
        super(RedisBench.on(Factories::impatientLettuce));
    }
}
