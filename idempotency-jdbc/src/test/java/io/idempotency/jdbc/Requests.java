package io.idempotency.jdbc;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;

/** Claims as the tests make them, each with an owner of its own. */
final class Requests {

    static final Duration LONG = Duration.ofMinutes(10);

    static final String OPERATION = "test-operation";

    private Requests() {}

    static RecordId freshId() {
        return RecordId.of(OPERATION, "", UUID.randomUUID().toString());
    }

    static ClaimRequest leased(RecordId id) {
        return request(id, Guarantee.AT_LEAST_ONCE, LONG, LONG);
    }

    static ClaimRequest exactlyOnce(RecordId id) {
        return request(id, Guarantee.EXACTLY_ONCE, LONG, LONG);
    }

    static ClaimRequest request(RecordId id, Guarantee guarantee, Duration lease, Duration retention) {
        return new ClaimRequest(
                id,
                OPERATION,
                guarantee,
                new Owner(UUID.randomUUID()),
                Fingerprint.sha256("test/1", new byte[] {1}),
                lease,
                retention,
                null);
    }

    static StoredResult result(String text) {
        return StoredResult.value("test", text.getBytes(StandardCharsets.UTF_8));
    }

    static Lease leaseOf(ClaimResult answer) {
        if (answer instanceof ClaimResult.Claimed claimed) {
            return claimed.lease();
        }
        throw new AssertionError("Expected a claim and got " + answer);
    }
}
