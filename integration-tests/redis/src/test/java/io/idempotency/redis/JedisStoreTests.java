package io.idempotency.redis;

/** Redis 7.0 by Jedis, or the server that was named for the tests. */
class JedisStoreTests extends RedisStoreTests {

    JedisStoreTests() {
        super(RedisBench.on(server -> Factories.jedis(server, Factories.PATIENT)));
    }
}
