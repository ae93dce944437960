package io.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import redis.clients.jedis.Jedis;

/** Claims as the tests make them, each with an owner of its own. */
final class Claims {

    static final Duration LONG = Duration.ofMinutes(10);

    static final Duration SHORT = Duration.ofMillis(100);

    private Claims() {}

    static RecordId freshId() {
        return RecordId.of("redis-operation", "", UUID.randomUUID().toString());
    }

    static ClaimRequest request(RecordId id) {
        return request(id, LONG, LONG);
    }

    static ClaimRequest request(RecordId id, Duration lease, Duration retention) {
        return new ClaimRequest(
                id,
                "redis-operation",
                Guarantee.AT_LEAST_ONCE,
                new Owner(UUID.randomUUID()),
                Fingerprint.sha256("test/1", "payload".getBytes(StandardCharsets.UTF_8)),
                lease,
                retention,
                null);
    }

    static StoredResult result(String text) {
        return StoredResult.value("test", text.getBytes(StandardCharsets.UTF_8));
    }

    static Lease claim(IdempotencyStore store, ClaimRequest request) {
        ClaimResult answer = store.tryClaim(request);
        assertThat(answer).isInstanceOf(ClaimResult.Claimed.class);
        return ((ClaimResult.Claimed) answer).lease();
    }

    /** A record whose owner has vanished. */
    static Lease abandoned(IdempotencyStore store, RecordId id) {
        Lease lease = claim(store, request(id, SHORT, LONG));
        waitFor(SHORT.plusMillis(20));
        return lease;
    }

    static void assertReplays(IdempotencyStore store, RecordId id, String text) {
        assertThat(store.tryClaim(request(id)))
                .isInstanceOfSatisfying(
                        ClaimResult.Done.class,
                        done -> assertThat(done.result()).isEqualTo(result(text)));
    }

    static String key(RecordId id) {
        return RedisIdempotencyStore.DEFAULT_KEY_PREFIX + HexFormat.of().formatHex(id.bytes());
    }

    /** What the clock of the server says, in ms since 1970. */
    static long time(RedisServer server) {
        List<String> time = server.does(Jedis::time);
        return Long.parseLong(time.get(0)) * 1000 + Long.parseLong(time.get(1)) / 1000;
    }

    /** Lets time pass on the server. */
    static void waitFor(Duration time) {
        long start = System.nanoTime();
        for (long left = time.toNanos(); left > 0; left = time.toNanos() - (System.nanoTime() - start)) {
            LockSupport.parkNanos(left);
        }
    }
}
