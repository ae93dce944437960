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

import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.WriteOutcome;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

/** What is not a record of this version is neither absent nor free, and nothing but an operator's word removes it. */
class UnreadableRecordTests {

    private static RedisServer server;
    private static LettuceConnectionFactory lettuce;

    private final RedisIdempotencyStore store =
            RedisIdempotencyStore.builder(lettuce).build();

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        lettuce = Factories.lettuce(server.port(), Factories.PATIENT);
    }

    @AfterAll
    static void stop() {
        lettuce.destroy();
        server.close();
    }

    static Stream<Arguments> strangers() {
        return Stream.of(
                Arguments.of("text", (BiConsumer<Jedis, String>) (redis, key) -> redis.set(key, "secret")),
                Arguments.of("nothing", (BiConsumer<Jedis, String>) (redis, key) -> redis.set(key, "")),
                Arguments.of("our first byte", (BiConsumer<Jedis, String>)
                        (redis, key) -> redis.set(bytes(key), new byte[] {1})),
                Arguments.of("our first bytes and much of nothing", (BiConsumer<Jedis, String>) (redis, key) ->
                        redis.set(bytes(key), Arrays.copyOf(new byte[] {1, 'P'}, 200))),
                Arguments.of("a list", (BiConsumer<Jedis, String>) (redis, key) -> redis.rpush(key, "secret")),
                Arguments.of("a hash", (BiConsumer<Jedis, String>) (redis, key) -> redis.hset(key, "state", "secret")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("strangers")
    void whateverStandsThereIsNeitherAbsentNorFree(String what, BiConsumer<Jedis, String> put) {
        RecordId id = freshId();
        server.does(redis -> {
            put.accept(redis, key(id));
            return redis.expire(key(id), 600);
        });

        assertRefused(id);

        assertThat(store.forget(id)).isTrue();
        assertThat(claim(store, request(id)).token()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void recordOfALaterFormatStateOrGuaranteeIsNeitherAbsentNorFree(int position) {
        ClaimRequest processing = request(freshId());
        Lease lease = claim(store, processing);
        overwrite(lease.id(), position, (byte) 'X');
        ClaimRequest completed = request(freshId());
        store.complete(claim(store, completed), result("secret"), LONG);
        overwrite(completed.id(), position, (byte) 'X');

        assertThat(store.complete(lease, result("late"), LONG)).isEqualTo(WriteOutcome.LOST);
        assertThat(store.renew(lease)).isEqualTo(WriteOutcome.LOST);
        assertThat(store.release(lease)).isEqualTo(WriteOutcome.LOST);
        assertRefused(lease.id());
        assertRefused(completed.id());
    }

    @Test
    void recordThatWasCutIsNotFinishedByItsOwner() {
        Lease lease = claim(store, request(freshId()));
        server.does(redis -> redis.set(
                bytes(key(lease.id())),
                Arrays.copyOf(redis.get(bytes(key(lease.id()))), 40),
                new SetParams().keepTtl()));

        assertThat(store.complete(lease, result("late"), LONG)).isEqualTo(WriteOutcome.LOST);
        assertThat(store.renew(lease)).isEqualTo(WriteOutcome.LOST);
        assertThat(store.release(lease)).isEqualTo(WriteOutcome.LOST);
        assertRefused(lease.id());
    }

    @Test
    void damagedResultKeepsItsFingerprint() {
        ClaimRequest request = request(freshId());
        store.complete(claim(store, request), result("secret"), LONG);
        int length = Math.toIntExact(server.<Long>does(redis -> redis.strlen(key(request.id()))));
        overwrite(request.id(), length - 1, (byte) '?');

        assertThat(store.tryClaim(request(request.id())))
                .isInstanceOfSatisfying(
                        ClaimResult.Unreadable.class,
                        unreadable -> assertThat(unreadable.fingerprint()).isEqualTo(request.fingerprint()));
    }

    @Test
    void claimThatSomebodyHasMadeEternalIsNotAbandoned() {
        Lease lease = abandoned(store, freshId());
        server.does(redis -> redis.persist(key(lease.id())));

        assertThat(store.tryClaim(request(lease.id()))).isInstanceOf(ClaimResult.Unreadable.class);
        assertThat(store.tryClaim(request(lease.id()).takingOverFrom(lease.owner())))
                .isInstanceOf(ClaimResult.Unreadable.class);
        assertThat(store.find(lease.id()).orElseThrow().abandoned()).isFalse();
        assertThat(store.complete(lease, result("late"), LONG)).isEqualTo(WriteOutcome.APPLIED);
        assertReplays(store, lease.id(), "late");
    }

    @Test
    void resultThatSomebodyHasMadeEternalIsReplayed() {
        RecordId id = freshId();
        store.complete(claim(store, request(id)), result("first"), LONG);
        server.does(redis -> redis.persist(key(id)));

        assertReplays(store, id, "first");
        assertReplays(RedisIdempotencyStore.builder(lettuce).build(), id, "first");
        assertThat(store.find(id).orElseThrow().expiresIn()).isPositive().isLessThanOrEqualTo(LONG);
    }

    private void assertRefused(RecordId id) {
        ClaimRequest request = request(id);
        assertThat(store.tryClaim(request)).isInstanceOf(ClaimResult.Unreadable.class);
        assertThat(store.tryClaim(request.takingOverFrom(request(id).owner())))
                .isInstanceOf(ClaimResult.Unreadable.class);
        assertThat(store.recordDone(request, result("second"))).isInstanceOf(ClaimResult.Unreadable.class);
        Lease lease = new Lease(request, 1);
        assertThat(store.complete(lease, result("second"), LONG)).isEqualTo(WriteOutcome.LOST);
        assertThat(store.renew(lease)).isEqualTo(WriteOutcome.LOST);
        assertThat(store.release(lease)).isEqualTo(WriteOutcome.LOST);
        IdempotencyRecord record = store.find(id).orElseThrow();
        assertThat(record.unreadable()).isNotBlank().doesNotContain("secret");
        assertThat(record.result()).isNull();
        assertThat(record.abandoned()).isFalse();
        assertThat(store.tryClaim(request)).isInstanceOf(ClaimResult.Unreadable.class);
    }

    private static void overwrite(RecordId id, int position, byte value) {
        server.does(redis -> redis.setrange(bytes(key(id)), position, new byte[] {value}));
    }

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.US_ASCII);
    }
}
