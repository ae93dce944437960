package io.idempotency.redis;

import static io.idempotency.redis.Claims.LONG;
import static io.idempotency.redis.Claims.assertReplays;
import static io.idempotency.redis.Claims.claim;
import static io.idempotency.redis.Claims.freshId;
import static io.idempotency.redis.Claims.key;
import static io.idempotency.redis.Claims.request;
import static io.idempotency.redis.Claims.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.WriteOutcome;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A cluster of several nodes: records of one operation are on all of them, and may move while a call runs. */
class RedisShardsTests {

    private static RedisShards shards;
    private static LettuceConnectionFactory lettuce;
    private static JedisConnectionFactory jedis;

    @BeforeAll
    static void start() {
        shards = new RedisShards();
        lettuce = Factories.impatientLettuce(Factories.cluster(shards.port()));
        jedis = Factories.jedis(Factories.cluster(shards.port()), Factories.PATIENT);
    }

    @AfterAll
    static void stop() {
        lettuce.destroy();
        jedis.destroy();
        shards.close();
    }

    private enum Driver {
        LETTUCE,
        JEDIS;

        IdempotencyStore store() {
            return RedisIdempotencyStore.builder(this == LETTUCE ? lettuce : jedis)
                    .build();
        }
    }

    @ParameterizedTest
    @EnumSource
    void recordsAreSpreadOverTheNodes(Driver driver) {
        IdempotencyStore store = driver.store();
        for (int i = 0; i < 100; i++) {
            RecordId id = freshId();
            Lease lease = claim(store, request(id));
            assertThat(store.complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
            assertReplays(store, id, "first");
        }

        assertThat(shards.sizes()).allSatisfy(size -> assertThat(size).isPositive());
    }

    // MOVED and ASK: the client knows the old place, and the new one has none of the scripts.
    @ParameterizedTest
    @EnumSource
    void recordMovesWhileItsCallRuns(Driver driver) {
        IdempotencyStore store = driver.store();
        RecordId id = freshId();
        Lease lease = claim(store, request(id));

        RedisShards.Move move = shards.begin(key(id));
        assertThat(store.renew(lease)).isEqualTo(WriteOutcome.APPLIED);
        assertThat(store.tryClaim(request(id))).isInstanceOf(ClaimResult.InProgress.class);
        move.end();

        assertThat(store.complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
        assertReplays(store, id, "first");
    }

    // They reach the keys of one node only.
    @Test
    void clientsThatKnowOfNoClusterAreToldSo() {
        LettuceConnectionFactory loneLettuce = Factories.impatientLettuce(Factories.standalone(shards.port()));
        JedisConnectionFactory loneJedis = Factories.jedis(shards.port(), Factories.PATIENT);
        try {
            assertToldOfTheCluster(loneLettuce);
            assertToldOfTheCluster(loneJedis);
        } finally {
            loneLettuce.destroy();
            loneJedis.destroy();
        }
    }

    private static void assertToldOfTheCluster(RedisConnectionFactory alone) {
        IdempotencyStore store = RedisIdempotencyStore.builder(alone).build();

        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> {
                    for (int i = 0; i < 100; i++) {
                        claim(store, request(freshId()));
                    }
                })
                .withMessageContaining("the connection factory is not configured for one");
    }
}
