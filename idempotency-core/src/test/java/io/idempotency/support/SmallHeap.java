package io.idempotency.support;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.time.Duration;
import java.util.UUID;

/** Runs in a process of its own with little memory; its exit status tells whether all went well. */
final class SmallHeap {

    private static final int HELD = 1_000;

    private SmallHeap() {}

    public static void main(String[] arguments) {
        int keys = Integer.parseInt(arguments[0]);
        Duration retention = Duration.parse(arguments[1]);
        InMemoryIdempotencyStore store = InMemoryIdempotencyStore.onSystemClock();
        StoredResult result = StoredResult.value("test", new byte[1024]);
        for (int i = 0; i < HELD; i++) {
            store.tryClaim(request("held-" + i, Duration.ofHours(1), retention));
        }
        for (int i = 0; i < keys; i++) {
            ClaimRequest request = request("key-" + i, Duration.ofSeconds(30), retention);
            ClaimResult answer = store.tryClaim(request);
            store.complete(((ClaimResult.Claimed) answer).lease(), result, retention);
            if (store.size() > InMemoryIdempotencyStore.DEFAULT_MAXIMUM_RECORDS) {
                throw new IllegalStateException("There are " + store.size() + " records");
            }
        }
        for (int i = 0; i < HELD; i++) {
            if (store.find(request("held-" + i, retention, retention).id()).isEmpty()) {
                throw new IllegalStateException("A record that was being processed is gone");
            }
        }
    }

    private static ClaimRequest request(String key, Duration lease, Duration retention) {
        return new ClaimRequest(
                RecordId.of("small-heap", "", key),
                "small-heap",
                Guarantee.AT_LEAST_ONCE,
                new Owner(UUID.nameUUIDFromBytes(new byte[] {1})),
                Fingerprint.NONE,
                lease,
                retention,
                null);
    }
}
