package io.idempotency.redis;

import static io.idempotency.redis.Claims.LONG;
import static io.idempotency.redis.Claims.abandoned;
import static io.idempotency.redis.Claims.assertReplays;
import static io.idempotency.redis.Claims.claim;
import static io.idempotency.redis.Claims.freshId;
import static io.idempotency.redis.Claims.key;
import static io.idempotency.redis.Claims.request;
import static io.idempotency.redis.Claims.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.ResultCache;
import io.idempotency.spi.WriteOutcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** No read of a replica decides anything, and a write may wait for replicas. */
class RedisReplicaTests {

    private static RedisServer master;
    private static RedisServer replica;

    @BeforeAll
    static void start() {
        master = RedisServer.start("--repl-diskless-sync-delay", "0");
        replica = RedisServer.start("--replicaof", "127.0.0.1 " + master.port());
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> replica.does(redis -> redis.info("replication")).contains("master_link_status:up"));
    }

    @AfterAll
    static void stop() {
        replica.close();
        master.close();
    }

    @Test
    void factoryThatReadsFromReplicasStillAsksTheMaster() {
        LettuceConnectionFactory factory = Factories.lettuceThatReadsFromReplica(master.port(), replica.port());
        replica.does(redis -> redis.configResetStat());
        try (RedisConnection connection = factory.getConnection()) {
            connection.stringCommands().get("a read of the application".getBytes());
            assertThat(callsOf("get")).isEqualTo(1);
            IdempotencyStore store = RedisIdempotencyStore.builder(factory).build();
            RecordId id = freshId();
            RecordId vanished = freshId();
            Lease abandoned = abandoned(store, vanished);

            Lease lease = claim(store, request(id));
            store.tryClaim(request(id));
            store.renew(lease);
            store.find(id);
            store.complete(lease, result("first"), LONG);
            assertReplays(store, id, "first");
            store.tryClaim(request(vanished).takingOverFrom(abandoned.owner()));
            store.release(claim(store, request(freshId())));
            store.recordDone(request(freshId()), result("known"));
            store.forget(id);

            ResultCache cache = RedisResultCache.builder(factory).build();
            cache.get(id);
            cache.put(id, copy(), LONG, cache.time());
            cache.bar(id);

            for (String command : List.of("evalsha", "eval", "getex", "pttl")) {
                assertThat(callsOf(command)).isZero();
            }
            assertThat(callsOf("get")).isEqualTo(1);
        } finally {
            factory.destroy();
        }
    }

    private static ClaimResult.Done copy() {
        ClaimRequest request = request(freshId());
        return new ClaimResult.Done(request.fingerprint(), request.owner(), result("first"), LONG);
    }

    /** What reached the replica; what the master executed for scripts comes to it as their effects. */
    private static int callsOf(String command) {
        String prefix = "cmdstat_" + command + ":calls=";
        return replica.<String>does(redis -> redis.info("commandstats"))
                .lines()
                .filter(line -> line.startsWith(prefix))
                .mapToInt(line -> Integer.parseInt(line.substring(prefix.length(), line.indexOf(','))))
                .sum();
    }

    @Test
    void replicaNeverAnswersForItsMaster() {
        LettuceConnectionFactory toMaster = Factories.lettuce(master.port(), Factories.PATIENT);
        LettuceConnectionFactory toReplica = Factories.lettuce(replica.port(), Factories.PATIENT);
        JedisConnectionFactory jedisToReplica = Factories.jedis(replica.port(), Factories.PATIENT);
        try {
            IdempotencyStore store = RedisIdempotencyStore.builder(toMaster).build();
            RecordId id = freshId();
            Lease lease = claim(store, request(id));
            RecordId done = freshId();
            Lease completed = claim(store, request(done));
            store.complete(completed, result("first"), LONG);
            Lease stranger = new Lease(request(id), 1);
            RecordId vanished = freshId();
            Lease abandoned = abandoned(store, vanished);
            await().atMost(60, TimeUnit.SECONDS)
                    .until(() -> replica.does(redis -> redis.exists(key(id), key(done), key(vanished))) == 3);

            for (IdempotencyStore misled : List.of(
                    RedisIdempotencyStore.builder(toReplica).build(),
                    RedisIdempotencyStore.builder(jedisToReplica).build())) {
                assertRefused(() -> misled.tryClaim(request(id)));
                assertRefused(() -> misled.tryClaim(request(done)));
                assertRefused(() -> misled.tryClaim(request(done).takingOverFrom(lease.owner())));
                assertRefused(() -> misled.tryClaim(request(vanished).takingOverFrom(abandoned.owner())));
                assertRefused(() -> misled.tryClaim(request(freshId()).takingOverFrom(lease.owner())));
                assertRefused(() -> misled.recordDone(request(id), result("second")));
                assertRefused(() -> misled.complete(lease, result("first"), LONG));
                assertRefused(() -> misled.complete(completed, result("first"), LONG));
                assertRefused(() -> misled.complete(stranger, result("first"), LONG));
                assertRefused(() -> misled.renew(lease));
                assertRefused(() -> misled.renew(stranger));
                assertRefused(() -> misled.release(lease));
                assertRefused(() -> misled.release(stranger));
                assertRefused(() -> misled.find(id));
                assertRefused(() -> misled.find(freshId()));
                assertRefused(() -> misled.forget(id));
            }
            for (RedisConnectionFactory each : List.of(toReplica, jedisToReplica)) {
                ResultCache misled = RedisResultCache.builder(each).build();
                assertRefused(() -> misled.get(id));
                assertRefused(() -> misled.bar(id));
            }
        } finally {
            toMaster.destroy();
            toReplica.destroy();
            jedisToReplica.destroy();
        }
    }

    private static void assertRefused(Runnable call) {
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(call::run)
                .withMessageContaining("replica");
    }

    @Nested
    class Waiting {

        private final LettuceConnectionFactory lettuce = unshared();
        private final JedisConnectionFactory jedis = Factories.jedis(master.port(), Factories.PATIENT);
        private final List<IdempotencyStore> stores = List.of(
                RedisIdempotencyStore.builder(lettuce).waitReplicas(1).build(),
                RedisIdempotencyStore.builder(jedis).waitReplicas(1).build());

        private LettuceConnectionFactory unshared() {
            LettuceConnectionFactory factory = Factories.lettuce(master.port(), Factories.PATIENT);
            factory.setShareNativeConnection(false);
            return factory;
        }

        @AfterEach
        void thaw() {
            replica.thaw();
            lettuce.destroy();
            jedis.destroy();
        }

        @Test
        void confirmedWritesCount() {
            for (IdempotencyStore store : stores) {
                RecordId id = freshId();
                Lease lease = claim(store, request(id));
                assertThat(replica.keys()).contains(key(id));
                assertThat(store.complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
                assertReplays(store, id, "first");
                RecordId vanished = freshId();
                Lease abandoned = abandoned(store, vanished);
                assertThat(store.tryClaim(request(vanished).takingOverFrom(abandoned.owner())))
                        .isInstanceOf(ClaimResult.Claimed.class);
                assertThat(store.recordDone(request(freshId()), result("known")))
                        .isInstanceOf(ClaimResult.Claimed.class);
            }
        }

        @Test
        void unconfirmedWritesAreUnavailable() {
            for (IdempotencyStore store : stores) {
                Lease lease = claim(store, request(freshId()));
                RecordId vanished = freshId();
                Lease abandoned = abandoned(store, vanished);
                replica.freeze();

                assertUnconfirmed(() -> store.tryClaim(request(freshId())));
                assertUnconfirmed(() -> store.tryClaim(request(vanished).takingOverFrom(abandoned.owner())));
                assertUnconfirmed(() -> store.recordDone(request(freshId()), result("known")));
                assertUnconfirmed(() -> store.complete(lease, result("first"), LONG));
                assertThat(store.tryClaim(request(lease.id()))).isInstanceOf(ClaimResult.Done.class);

                replica.thaw();
                await().atMost(Duration.ofSeconds(20))
                        .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
                        .until(() -> store.tryClaim(request(freshId())) instanceof ClaimResult.Claimed);
            }
        }

        private void assertUnconfirmed(Runnable call) {
            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(call::run)
                    .withMessageContaining("0 of 1 replicas");
        }
    }
}
