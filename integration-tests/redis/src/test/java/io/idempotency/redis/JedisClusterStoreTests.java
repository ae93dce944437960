package io.idempotency.redis;

import java.time.Duration;

/** Redis 7.0 in cluster mode, by Jedis. */
class JedisClusterStoreTests extends RedisStoreTests {

    JedisClusterStoreTests() {
        super(RedisBench.onCluster(server -> Factories.jedis(server, Duration.ofSeconds(2))));
    }
}
