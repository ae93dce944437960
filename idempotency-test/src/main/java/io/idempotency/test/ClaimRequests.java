package io.idempotency.test;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;

/** Claims as the contracts make them: each with an owner of its own. */
final class ClaimRequests {

    /** Outlives every fact. */
    static final Duration LONG = Duration.ofMinutes(10);

    /** Over after {@link #PAST_SHORT}. */
    static final Duration SHORT = Duration.ofMillis(200);

    static final Duration PAST_SHORT = SHORT.plusMillis(100);

    static final String OPERATION = "contract-operation";

    static final Fingerprint FINGERPRINT = fingerprint("payload");

    private ClaimRequests() {}

    static RecordId freshId() {
        return RecordId.of(OPERATION, "", UUID.randomUUID().toString());
    }

    static Owner freshOwner() {
        return new Owner(UUID.randomUUID());
    }

    static Fingerprint fingerprint(String payload) {
        return Fingerprint.sha256("test/1", payload.getBytes(StandardCharsets.UTF_8));
    }

    static ClaimRequest request(RecordId id) {
        return request(id, LONG, LONG);
    }

    static ClaimRequest request(RecordId id, Duration lease, Duration retention) {
        return request(id, Guarantee.AT_LEAST_ONCE, FINGERPRINT, lease, retention);
    }

    static ClaimRequest request(
            RecordId id, Guarantee guarantee, Fingerprint fingerprint, Duration lease, Duration retention) {
        return new ClaimRequest(id, OPERATION, guarantee, freshOwner(), fingerprint, lease, retention, null);
    }

    static StoredResult result(String text) {
        return result(text.getBytes(StandardCharsets.UTF_8));
    }

    static StoredResult result(byte[] payload) {
        return StoredResult.value("test", payload);
    }
}
