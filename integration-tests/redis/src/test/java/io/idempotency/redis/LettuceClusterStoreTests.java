package io.idempotency.redis;

/** Redis 7.0 in cluster mode, by Lettuce. */
class LettuceClusterStoreTests extends RedisStoreTests {

    LettuceClusterStoreTests() {
        super(RedisBench.onCluster(Factories::impatientLettuce));
    }
}
