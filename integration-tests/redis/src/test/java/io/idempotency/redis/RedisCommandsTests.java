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

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.WriteOutcome;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.serializer.RedisSerializer;
import redis.clients.jedis.Jedis;

/** What the store sends to its server, and what stands there then. */
class RedisCommandsTests {

    private static RedisServer server;
    private static LettuceConnectionFactory lettuce;
    private static JedisConnectionFactory jedis;

    private final RedisIdempotencyStore store =
            RedisIdempotencyStore.builder(lettuce).build();

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        lettuce = Factories.lettuce(server.port(), Factories.PATIENT);
        jedis = Factories.jedis(server.port(), Factories.PATIENT);
    }

    @AfterAll
    static void stop() {
        lettuce.destroy();
        jedis.destroy();
        server.close();
    }

    @BeforeEach
    void empty() {
        server.does(redis -> redis.flushAll());
    }

    @Test
    void firstExecutionIsTwoCommandsAndReplayIsOne() throws Exception {
        store.complete(claim(store, request(freshId())), result("warm"), LONG);
        RecordId id = freshId();
        try (Monitor monitor = new Monitor(server)) {
            store.complete(claim(store, request(id)), result("first"), LONG);
            List<String> first = monitor.commands();
            assertReplays(store, id, "first");
            List<String> replay = monitor.commands();

            assertThat(first).hasSize(2);
            assertThat(first.get(0)).startsWith("\"SET\" \"" + key(id) + "\"").contains("\"NX\"", "\"GET\"", "\"PX\"");
            assertThat(first.get(1)).startsWith("\"EVALSHA\"").contains(key(id));
            assertThat(replay).hasSize(1);
            assertThat(replay.get(0)).startsWith("\"SET\" \"" + key(id) + "\"");
        }
    }

    @Test
    void everythingElseIsOneCommandToo() throws Exception {
        RecordId id = freshId();
        Lease lease = claim(store, request(id));
        RecordId vanished = freshId();
        Lease abandoned = abandoned(store, vanished);
        store.release(claim(store, request(freshId())));
        store.renew(lease);
        store.find(id);
        store.recordDone(request(freshId()), result("known"));
        try (Monitor monitor = new Monitor(server)) {
            store.renew(lease);
            assertThat(monitor.commands()).hasSize(1);
            store.tryClaim(request(vanished).takingOverFrom(abandoned.owner()));
            assertThat(monitor.commands()).hasSize(1);
            store.recordDone(request(freshId()), result("known"));
            assertThat(monitor.commands()).hasSize(1);
            store.find(id);
            assertThat(monitor.commands()).hasSize(1);
            store.release(lease);
            assertThat(monitor.commands()).hasSize(1);
            store.forget(id);
            assertThat(monitor.commands()).hasSize(1);
        }
    }

    @Test
    void inProgressIsTwoCommands() throws Exception {
        RecordId id = freshId();
        claim(store, request(id));
        store.tryClaim(request(id));
        try (Monitor monitor = new Monitor(server)) {
            assertThat(store.tryClaim(request(id))).isInstanceOf(ClaimResult.InProgress.class);

            assertThat(monitor.commands()).hasSize(2);
        }
    }

    @Test
    void jedisNeedsNoMoreCommands() throws Exception {
        IdempotencyStore onJedis = RedisIdempotencyStore.builder(jedis).build();
        onJedis.complete(claim(onJedis, request(freshId())), result("warm"), LONG);
        RecordId id = freshId();
        try (Monitor monitor = new Monitor(server)) {
            onJedis.complete(claim(onJedis, request(id)), result("first"), LONG);
            assertReplays(onJedis, id, "first");

            assertThat(monitor.commands()).hasSize(3);
        }
    }

    @Test
    void scriptsAreSentAgainWhereTheServerHasForgottenThem() {
        for (IdempotencyStore each :
                List.of(store, RedisIdempotencyStore.builder(jedis).build())) {
            RecordId id = freshId();
            Lease lease = claim(each, request(id));
            forgetScripts();
            assertThat(each.renew(lease)).isEqualTo(WriteOutcome.APPLIED);
            forgetScripts();
            assertThat(each.tryClaim(request(id))).isInstanceOf(ClaimResult.InProgress.class);
            forgetScripts();
            assertThat(each.find(id)).isPresent();
            forgetScripts();
            assertThat(each.complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
            forgetScripts();
            assertThat(each.release(claim(each, request(freshId())))).isEqualTo(WriteOutcome.APPLIED);
            forgetScripts();
            assertThat(each.recordDone(request(freshId()), result("known"))).isInstanceOf(ClaimResult.Claimed.class);
            assertReplays(each, id, "first");
        }
    }

    private static void forgetScripts() {
        server.does(redis -> redis.scriptFlush());
    }

    // Case 28.
    @Test
    void noKeyEverStandsThereWithoutAnExpiryThoughConnectionsAreKilled() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(9);
        try {
            Future<Integer> killer = threads.submit(() -> {
                int killed = 0;
                while (!over.get()) {
                    killed += server.killConnections(Factories.CLIENT_NAME);
                    Claims.waitFor(Duration.ofMillis(10));
                }
                return killed;
            });
            List<Future<Integer>> claimers = new ArrayList<>();
            for (int thread = 0; thread < 8; thread++) {
                IdempotencyStore each = thread % 2 == 0
                        ? store
                        : RedisIdempotencyStore.builder(jedis).build();
                Random random = new Random(thread);
                claimers.add(threads.submit(() -> {
                    try (Jedis watching = server.connect()) {
                        int withoutExpiry = 0;
                        for (int i = 0; i < 125; i++) {
                            RecordId id = freshId();
                            use(each, id, random);
                            withoutExpiry += watching.pttl(key(id)) == -1 ? 1 : 0;
                        }
                        return withoutExpiry;
                    }
                }));
            }
            for (Future<Integer> claimer : claimers) {
                assertThat(claimer.get(60, TimeUnit.SECONDS)).isZero();
            }
            over.set(true);
            assertThat(killer.get(60, TimeUnit.SECONDS)).isPositive();

            for (String key : server.keys()) {
                assertThat(server.<Long>does(redis -> redis.pttl(key))).isPositive();
            }
        } finally {
            over.set(true);
            threads.shutdownNow();
        }
    }

    private static void use(IdempotencyStore store, RecordId id, Random random) {
        try {
            Lease lease = claim(store, request(id));
            if (random.nextInt(3) == 0) {
                store.renew(lease);
            }
            if (random.nextInt(2) == 0) {
                store.complete(lease, result("first"), LONG);
            }
        } catch (StoreUnavailableException e) {
            // Its connection was killed: whether the record is there is not known.
        }
    }

    // Case 28.
    @Test
    void claimIsOneCommandThatSetsTheExpiry() throws Exception {
        try (Monitor monitor = new Monitor(server)) {
            for (int i = 0; i < 1000; i++) {
                claim(store, request(freshId()));
            }

            assertThat(monitor.heard())
                    .filteredOn(line -> line.contains(RedisIdempotencyStore.DEFAULT_KEY_PREFIX))
                    .hasSize(1000)
                    .allMatch(line ->
                            line.contains("\"SET\"") && line.contains("\"NX\"") && line.contains("\"PX\" \"1200000\""));
        }
    }

    // Case 36.
    @Test
    void templatesOfTheApplicationDoNotMatter() {
        for (RedisSerializer<?> serializer : List.of(RedisSerializer.java(), new QuotingSerializer())) {
            RedisTemplate<Object, Object> template = new RedisTemplate<>();
            template.setConnectionFactory(lettuce);
            template.setDefaultSerializer(serializer);
            template.setEnableTransactionSupport(true);
            template.afterPropertiesSet();
            template.opsForValue().set("of the application", "value", Duration.ofMinutes(1));
            server.does(redis -> redis.flushAll());
            RecordId done = freshId();
            RecordId released = freshId();

            store.complete(claim(store, request(done)), result("first"), LONG);
            store.release(claim(store, request(released)));
            claim(store, request(released));

            assertReplays(store, done, "first");
            assertThat(server.keys()).containsExactlyInAnyOrder(key(done), key(released));
        }
    }

    // The connection of an application's MULTI is bound to its thread, and ours must not be that one.
    @Test
    void transactionOfTheApplicationDoesNotQueueOurCommands() {
        RedisTemplate<String, String> template = new RedisTemplate<>();
        template.setConnectionFactory(lettuce);
        template.setDefaultSerializer(RedisSerializer.string());
        template.afterPropertiesSet();
        RecordId id = freshId();

        template.execute(new SessionCallback<List<Object>>() {
            @Override
            public <K, V> List<Object> execute(RedisOperations<K, V> operations) {
                operations.multi();
                store.complete(claim(store, request(id)), result("first"), LONG);
                return operations.exec();
            }
        });

        assertReplays(store, id, "first");
    }

    @Test
    void prefixSeparatesStores() {
        RedisIdempotencyStore other =
                RedisIdempotencyStore.builder(lettuce).keyPrefix("other/app.1:").build();
        RecordId id = freshId();

        claim(store, request(id));
        claim(other, request(id));

        assertThat(server.keys()).hasSize(2);
    }

    /** Writes text as JSON does. */
    private static final class QuotingSerializer implements RedisSerializer<Object> {

        @Override
        public byte[] serialize(Object value) {
            return ('"' + String.valueOf(value) + '"').getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public Object deserialize(byte[] bytes) {
            return bytes == null ? null : new String(bytes, 1, bytes.length - 2, StandardCharsets.UTF_8);
        }
    }
}
