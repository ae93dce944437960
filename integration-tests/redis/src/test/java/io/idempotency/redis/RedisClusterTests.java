package io.idempotency.redis;

import static io.idempotency.redis.Claims.LONG;
import static io.idempotency.redis.Claims.claim;
import static io.idempotency.redis.Claims.request;
import static io.idempotency.redis.Claims.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.WriteOutcome;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A cluster knows its keys by slots and refuses commands that name two of them. */
class RedisClusterTests {

    private static RedisServer server;
    private static LettuceConnectionFactory lettuce;
    private static JedisConnectionFactory jedis;

    @BeforeAll
    static void start() throws IOException {
        server = RedisServer.startCluster();
        lettuce = Factories.impatientLettuce(Factories.cluster(server.port()));
        jedis = Factories.jedis(Factories.cluster(server.port()), Factories.PATIENT);
    }

    @AfterAll
    static void stop() {
        lettuce.destroy();
        jedis.destroy();
        server.close();
    }

    // Case 31.
    @Test
    void everyTransitionTouchesOneSlotWhateverTheKey() {
        IdempotencyStore onLettuce = RedisIdempotencyStore.builder(lettuce).build();
        IdempotencyStore onJedis = RedisIdempotencyStore.builder(jedis).build();
        List<Lease> vanishing = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            IdempotencyStore store = i % 2 == 0 ? onLettuce : onJedis;
            String key = UUID.randomUUID().toString();
            RecordId id = RecordId.of("cluster", "", i % 4 < 2 ? key : "{tag}" + key);
            Lease lease = claim(store, request(id, i % 5 == 0 ? Duration.ofMillis(1) : LONG, LONG));
            if (i % 5 == 0) {
                vanishing.add(lease);
            } else if (i % 5 == 1) {
                assertThat(store.release(lease)).isEqualTo(WriteOutcome.APPLIED);
            } else if (i % 5 == 2) {
                assertThat(store.renew(lease)).isEqualTo(WriteOutcome.APPLIED);
                assertThat(store.find(id)).isPresent();
                assertThat(store.forget(id)).isTrue();
            } else {
                assertThat(store.complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
                assertThat(store.tryClaim(request(id))).isInstanceOf(ClaimResult.Done.class);
            }
        }
        Claims.waitFor(Duration.ofMillis(10));
        for (Lease vanished : vanishing) {
            assertThat(onLettuce.tryClaim(request(vanished.id()).takingOverFrom(vanished.owner())))
                    .isInstanceOf(ClaimResult.Claimed.class);
        }
    }

    @Test
    void bracesInAKeyAreAPartOfItAndNothingMore() {
        IdempotencyStore store = RedisIdempotencyStore.builder(lettuce).build();
        String unique = UUID.randomUUID().toString();
        List<RecordId> ids = List.of(
                RecordId.of("cluster", "", "{" + unique + "}a"),
                RecordId.of("cluster", "", "{" + unique + "}b"),
                RecordId.of("cluster", "", unique + "a"),
                RecordId.of("cluster", "", "{}" + unique),
                RecordId.of("cluster", "", "}" + unique + "{"));

        assertThat(ids)
                .allSatisfy(id -> assertThat(store.tryClaim(request(id))).isInstanceOf(ClaimResult.Claimed.class));
    }

    @Test
    void waitingForReplicasIsRefusedBeforeTheFirstCall() {
        for (RedisIdempotencyStore.Builder builder :
                List.of(RedisIdempotencyStore.builder(lettuce), RedisIdempotencyStore.builder(jedis))) {
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> builder.waitReplicas(1).build())
                    .withMessageContaining("cluster")
                    .withMessageContaining("idempotency.redis.wait-replicas");
        }
    }

    @Test
    void serversOfAClusterAreChecked() {
        RedisIdempotencyStore store = RedisIdempotencyStore.builder(lettuce).build();

        RedisServerChecks checks = RedisServerChecks.of(store, LONG);

        assertThat(checks.version()).hasValue("7.0.15");
        assertThat(checks.maxmemoryPolicy()).hasValue("noeviction");
        assertThat(checks.warnings()).isEmpty();
    }
}
