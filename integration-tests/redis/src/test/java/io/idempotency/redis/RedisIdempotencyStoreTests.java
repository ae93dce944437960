package io.idempotency.redis;

import static io.idempotency.redis.Claims.LONG;
import static io.idempotency.redis.Claims.claim;
import static io.idempotency.redis.Claims.freshId;
import static io.idempotency.redis.Claims.request;
import static io.idempotency.redis.Claims.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.idempotency.StoreUnavailableException;
import io.idempotency.it.servers.Ports;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class RedisIdempotencyStoreTests {

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

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b:", "{tag}:", "a*", "a\n", "ä:"})
    void prefixThatIsNoneIsRefused(String prefix) {
        RedisIdempotencyStore.Builder builder = RedisIdempotencyStore.builder(lettuce);

        assertThatIllegalArgumentException().isThrownBy(() -> builder.keyPrefix(prefix));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.keyPrefix("a".repeat(101)));
    }

    @Test
    void negativeNumberOfReplicasIsRefused() {
        RedisIdempotencyStore.Builder builder = RedisIdempotencyStore.builder(lettuce);

        assertThatIllegalArgumentException().isThrownBy(() -> builder.waitReplicas(-1));
    }

    @Test
    void storeIsBuiltWithoutAServer() throws Exception {
        LettuceConnectionFactory nowhere = Factories.lettuce(Ports.free(), Duration.ofMillis(200));
        try {
            IdempotencyStore unreachable =
                    RedisIdempotencyStore.builder(nowhere).build();

            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(() -> unreachable.tryClaim(request(freshId())));
        } finally {
            nowhere.destroy();
        }
    }

    @Test
    void stoppedFactoryIsUnavailable() {
        LettuceConnectionFactory stopped = Factories.lettuce(server.port(), Factories.PATIENT);
        IdempotencyStore onStopped = RedisIdempotencyStore.builder(stopped).build();
        stopped.destroy();

        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> onStopped.tryClaim(request(freshId())));
    }

    @Test
    void wrongPasswordIsUnavailableAndSaidToBe() {
        RedisStandaloneConfiguration wrong = Factories.standalone(server.port());
        wrong.setUsername("nobody");
        wrong.setPassword("wrong");
        LettuceConnectionFactory factory = Factories.impatientLettuce(wrong);
        try {
            IdempotencyStore locked = RedisIdempotencyStore.builder(factory).build();

            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(() -> locked.tryClaim(request(freshId())))
                    .withMessageContaining("password");
        } finally {
            factory.destroy();
        }
    }

    @Test
    void userWithTheDocumentedRightsCanDoEverything() {
        server.does(redis -> redis.aclSetUser(
                "store",
                "on",
                ">secret",
                "resetkeys",
                "~idempotency:*",
                "-@all",
                "+set",
                "+get",
                "+getex",
                "+setrange",
                "+del",
                "+pexpire",
                "+pttl",
                "+pexpiretime",
                "+time",
                "+eval",
                "+evalsha",
                "+ping"));
        RedisStandaloneConfiguration modest = Factories.standalone(server.port());
        modest.setUsername("store");
        modest.setPassword("secret");
        LettuceConnectionFactory factory = Factories.impatientLettuce(modest);
        try {
            IdempotencyStore each = RedisIdempotencyStore.builder(factory).build();
            RecordId id = freshId();
            Lease lease = claim(each, request(id));
            each.renew(lease);
            each.find(id);
            each.complete(lease, result("first"), LONG);
            Claims.assertReplays(each, id, "first");
            each.release(claim(each, request(freshId())));
            each.recordDone(request(freshId()), result("known"));
            assertThat(each.forget(id)).isTrue();
            IdempotencyStore elsewhere = RedisIdempotencyStore.builder(factory)
                    .keyPrefix("elsewhere:")
                    .build();
            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(() -> elsewhere.tryClaim(request(freshId())))
                    .withMessageContaining("lacks rights");
        } finally {
            factory.destroy();
        }
    }

    // The numbers of a lease are still in a record that is done. They mean nothing any more.
    @Test
    void resultThatIsOlderThanItsLeaseIsNotTakenOver() {
        ClaimRequest request = request(freshId(), Claims.SHORT, LONG);
        store.complete(claim(store, request), result("first"), LONG);
        Claims.waitFor(Claims.SHORT.plusMillis(20));

        assertThat(store.tryClaim(request(request.id()).takingOverFrom(request.owner())))
                .isInstanceOf(ClaimResult.Done.class);
        assertThat(store.recordDone(request(request.id()).takingOverFrom(request.owner()), result("second")))
                .isInstanceOf(ClaimResult.Done.class);
    }

    @Test
    void replayTellsWhatIsLeftOfTheRetention() {
        RecordId id = freshId();
        Duration retention = Duration.ofSeconds(30);
        Duration wait = Duration.ofMillis(300);
        Lease lease = claim(store, request(id));
        long before = System.nanoTime();
        store.complete(lease, result("first"), retention);
        Duration onItsWay = Duration.ofNanos(System.nanoTime() - before);
        Claims.waitFor(wait);

        ClaimResult.Done done = (ClaimResult.Done) store.tryClaim(request(id));

        Duration sinceBefore = Duration.ofNanos(System.nanoTime() - before);
        assertThat(done.retentionLeft())
                .isBetween(
                        retention.minus(sinceBefore).minusMillis(5),
                        retention.minus(wait).plus(onItsWay).plusMillis(5));
    }

    @Test
    void recordsAreDatedByTheServer() {
        ClaimRequest request = request(freshId());
        Lease lease = claim(store, request);
        Instant found = store.find(request.id()).orElseThrow().createdAt();
        Claims.waitFor(Duration.ofMillis(20));
        store.renew(lease);
        Instant renewed = store.find(request.id()).orElseThrow().createdAt();
        store.complete(lease, result("first"), LONG);
        var done = store.find(request.id()).orElseThrow();

        assertThat(found).isEqualTo(renewed).isEqualTo(done.createdAt());
        assertThat(Duration.between(found, done.completedAt())).isGreaterThanOrEqualTo(Duration.ofMillis(20));
        long server = Claims.time(RedisIdempotencyStoreTests.server);
        assertThat(found.toEpochMilli()).isBetween(server - 60_000, server);
    }

    @Test
    void oldServerIsAskedByScriptFromTheSecondClaimOn() throws Exception {
        try (RedisServer redis6 = RedisServer.start(RedisBinary.REDIS_6)) {
            LettuceConnectionFactory factory = Factories.lettuce(redis6.port(), Factories.PATIENT);
            IdempotencyStore onOld = RedisIdempotencyStore.builder(factory).build();
            claim(onOld, request(freshId()));
            try (Monitor monitor = new Monitor(redis6)) {
                claim(onOld, request(freshId()));

                assertThat(monitor.commands()).hasSize(1).allMatch(line -> line.startsWith("\"EVALSHA\""));
            } finally {
                factory.destroy();
            }
        }
    }
}
