package io.idempotency.redis;

import static io.idempotency.redis.Claims.LONG;
import static io.idempotency.redis.Claims.freshId;
import static io.idempotency.redis.Claims.request;
import static io.idempotency.redis.Claims.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.idempotency.StoreUnavailableException;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.ResultCache;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Copies in Redis: alone, as a cluster, before version 7, by both drivers. */
class RedisResultCacheTests {

    private static final Map<String, RedisServer> servers = new LinkedHashMap<>();
    private static final Map<String, RedisConnectionFactory> factories = new LinkedHashMap<>();

    @BeforeAll
    static void start() throws Exception {
        servers.put("7", RedisServer.start());
        servers.put("6", RedisServer.start(RedisBinary.REDIS_6));
        servers.put("cluster", RedisServer.startCluster());
        int redis7 = servers.get("7").port();
        factories.put("7 by Lettuce", Factories.lettuce(redis7, Factories.PATIENT));
        factories.put("7 by Jedis", Factories.jedis(redis7, Factories.PATIENT));
        factories.put("6 by Lettuce", Factories.lettuce(servers.get("6").port(), Factories.PATIENT));
        int cluster = servers.get("cluster").port();
        factories.put("cluster by Lettuce", Factories.impatientLettuce(Factories.cluster(cluster)));
        factories.put("cluster by Jedis", Factories.jedis(Factories.cluster(cluster), Factories.PATIENT));
    }

    @AfterAll
    static void stop() throws Exception {
        for (RedisConnectionFactory factory : factories.values()) {
            ((DisposableBean) factory).destroy();
        }
        servers.values().forEach(RedisServer::close);
    }

    static Stream<Place> places() {
        return factories.entrySet().stream()
                .map(entry -> new Place(
                        entry.getKey(),
                        RedisResultCache.builder(entry.getValue()).build(),
                        servers.get(entry.getKey().split(" ")[0])));
    }

    private record Place(String name, ResultCache cache, RedisServer server) {

        /** What the cache would say if it had just been asked. */
        OptionalLong now() {
            cache.get(freshId());
            return cache.time();
        }

        long timeToLive(RecordId id) {
            return server.does(redis -> redis.pttl(key(id)));
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static String key(RecordId id) {
        return "idempotency:done:" + HexFormat.of().formatHex(id.bytes());
    }

    private static ClaimResult.Done copy(String text) {
        ClaimRequest request = request(freshId());
        return new ClaimResult.Done(request.fingerprint(), request.owner(), result(text), LONG);
    }

    @ParameterizedTest
    @MethodSource("places")
    void copyComesBackWithWhatIsLeftOfTheRetention(Place place) {
        RecordId id = freshId();
        ClaimResult.Done done = copy("first");
        long start = System.nanoTime();
        place.cache.put(id, done, Duration.ofSeconds(60), place.now());
        Claims.waitFor(Duration.ofMillis(50));

        ClaimResult.Done found = place.cache.get(id).orElseThrow();

        assertThat(found.owner()).isEqualTo(done.owner());
        assertThat(found.fingerprint()).isEqualTo(done.fingerprint());
        assertThat(found.result()).isEqualTo(done.result());
        Duration passed = Duration.ofNanos(System.nanoTime() - start);
        assertThat(found.retentionLeft()).isBetween(LONG.minus(passed).minusMillis(5), LONG.minusMillis(45));
        assertThat(place.timeToLive(id)).isBetween(1L, 60_000L);
    }

    @ParameterizedTest
    @MethodSource("places")
    void absentCopyIsAbsent(Place place) {
        assertThat(place.cache.get(freshId())).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("places")
    void barRemovesTheCopyAndKeepsNewOnesAway(Place place) {
        RecordId id = freshId();
        place.cache.put(id, copy("first"), LONG, place.now());

        place.cache.bar(id);
        place.cache.put(id, copy("first"), LONG, place.now());

        assertThat(place.cache.get(id)).isEmpty();
        assertThat(place.timeToLive(id)).isBetween(30_000L, 60_000L);
    }

    @ParameterizedTest
    @MethodSource("places")
    void firstCopyStays(Place place) {
        RecordId id = freshId();
        place.cache.put(id, copy("first"), LONG, place.now());

        place.cache.put(id, copy("second"), LONG, place.now());

        assertThat(place.cache.get(id).orElseThrow().result()).isEqualTo(result("first"));
    }

    // Longer ago than a bar may have come and gone.
    @ParameterizedTest
    @MethodSource("places")
    void copyThatWasReadLongAgoComesTooLate(Place place) {
        RecordId id = freshId();
        long now = place.now().orElseThrow();

        place.cache.put(id, copy("first"), LONG, OptionalLong.of(now - 5_100));
        assertThat(place.cache.get(id)).isEmpty();

        place.cache.put(id, copy("first"), LONG, OptionalLong.of(now + 60_000));
        assertThat(place.cache.get(id)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("places")
    void lifeOfACopyCountsFromWhenItWasRead(Place place) {
        RecordId id = freshId();
        long now = place.now().orElseThrow();

        place.cache.put(id, copy("first"), Duration.ofSeconds(20), OptionalLong.of(now - 3_000));
        assertThat(place.timeToLive(id)).isBetween(1L, 17_000L);

        RecordId over = freshId();
        place.cache.put(over, copy("first"), Duration.ofSeconds(2), OptionalLong.of(now - 1_500));
        assertThat(place.cache.get(over)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("places")
    void copyOfUnknownAgeIsNotKeptButTellsTheTimeForTheNextOne(Place place) {
        ResultCache fresh = RedisResultCache.builder(factories.get(place.name)).build();
        RecordId id = freshId();
        assertThat(fresh.time()).isEmpty();

        fresh.put(id, copy("first"), LONG, fresh.time());
        assertThat(fresh.get(id)).isEmpty();

        ResultCache next = RedisResultCache.builder(factories.get(place.name)).build();
        next.put(id, copy("first"), LONG, next.time());
        next.put(id, copy("first"), LONG, next.time());
        assertThat(next.get(id)).isPresent();
    }

    @Test
    void whatIsNoSoundCopyIsAbsent() {
        Place place = places().findFirst().orElseThrow();
        RecordId id = freshId();
        byte[] key = key(id).getBytes(StandardCharsets.US_ASCII);
        place.cache.put(id, copy("first"), LONG, place.now());
        byte[] sound = place.server.does(redis -> redis.get(key));
        List<byte[]> unsound = new ArrayList<>();
        for (int length = 0; length < sound.length; length++) {
            unsound.add(java.util.Arrays.copyOf(sound, length));
        }
        for (int position : new int[] {0, 1, sound.length - 1, sound.length - 8}) {
            byte[] altered = sound.clone();
            altered[position] ^= 0x55;
            unsound.add(altered);
        }

        for (byte[] value : unsound) {
            place.server.does(redis -> redis.set(key, value));
            assertThat(place.cache.get(id)).isEmpty();
        }
        place.server.does(redis -> redis.del(key));
        place.server.does(redis -> redis.rpush(key, sound));
        assertThat(place.cache.get(id)).isEmpty();
        place.cache.put(id, copy("first"), LONG, place.now());
        place.cache.bar(id);
        place.cache.put(id, copy("first"), LONG, place.now());
        assertThat(place.cache.get(id)).isEmpty();
    }

    @Test
    void prefixSeparatesCachesAndIsChecked() {
        RedisConnectionFactory factory = factories.get("7 by Lettuce");
        ResultCache one = RedisResultCache.builder(factory).keyPrefix("one:").build();
        ResultCache two = RedisResultCache.builder(factory).keyPrefix("two:").build();
        RecordId id = freshId();
        one.get(id);
        one.put(id, copy("first"), LONG, one.time());

        assertThat(one.get(id)).isPresent();
        assertThat(two.get(id)).isEmpty();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisResultCache.builder(factory).keyPrefix("{one}"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisResultCache.builder(factory).waitReplicas(-1));
        assertThatIllegalStateException()
                .isThrownBy(() -> RedisResultCache.builder(factories.get("cluster by Lettuce"))
                        .waitReplicas(1)
                        .build())
                .withMessageContaining("cluster");
    }

    @Test
    void userWithTheDocumentedRightsCanDoEverythingAndNothingElsewhere() {
        RedisServer server = servers.get("7");
        server.does(redis -> redis.aclSetUser(
                "tier",
                "on",
                ">secret",
                "resetkeys",
                "~idempotency:done:*",
                "-@all",
                "+set",
                "+getex",
                "+time",
                "+eval",
                "+evalsha",
                "+ping"));
        RedisStandaloneConfiguration modest = Factories.standalone(server.port());
        modest.setUsername("tier");
        modest.setPassword("secret");
        LettuceConnectionFactory factory = Factories.impatientLettuce(modest);
        try {
            ResultCache cache = RedisResultCache.builder(factory).build();
            RecordId id = freshId();
            cache.get(id);
            cache.put(id, copy("first"), LONG, cache.time());
            assertThat(cache.get(id)).isPresent();
            cache.bar(id);
            assertThat(cache.get(id)).isEmpty();
            ResultCache elsewhere =
                    RedisResultCache.builder(factory).keyPrefix("elsewhere:").build();
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> elsewhere.get(id));
        } finally {
            factory.destroy();
        }
    }

    @Test
    void barThatReplicasDoNotConfirmHasFailed() {
        ResultCache waiting = RedisResultCache.builder(factories.get("7 by Lettuce"))
                .waitReplicas(1)
                .build();

        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> waiting.bar(freshId()))
                .withMessageContaining("0 of 1 replicas");
    }
}
