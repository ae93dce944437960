package io.idempotency.spi;

import io.idempotency.Guarantee;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Everything a store needs to claim a key.
 *
 * @param id identity of the record
 * @param operation name of the operation, kept with the record for operators
 * @param guarantee guarantee of the attempt, kept with the record: it decides what becomes of it when the owner vanishes. Never
 *     {@link Guarantee#AUTO}
 * @param owner identity of this attempt
 * @param fingerprint fingerprint of this call
 * @param lease how long the claim blocks others without a renewal; at least 1 ms. Not used by a claim in a transaction
 * @param retention how long the record outlives its lease or its completion; at least 1 ms
 * @param takeOverFrom owner of the abandoned record that this claim may take over; {@code null} takes over nothing
 * @since 0.1.0
 */
public record ClaimRequest(
        RecordId id,
        String operation,
        Guarantee guarantee,
        Owner owner,
        Fingerprint fingerprint,
        Duration lease,
        Duration retention,
        @Nullable Owner takeOverFrom) {

    public ClaimRequest {
        if (guarantee == Guarantee.AUTO) {
            throw new IllegalArgumentException("A claim states the guarantee that was chosen, not AUTO");
        }
        if (lease.toMillis() < 1 || retention.toMillis() < 1) {
            throw new IllegalArgumentException("Lease and retention are at least 1 ms: " + lease + ", " + retention);
        }
    }

    /** The same request, allowed to take over the abandoned record of the given owner. */
    public ClaimRequest takingOverFrom(Owner seen) {
        return new ClaimRequest(id, operation, guarantee, owner, fingerprint, lease, retention, seen);
    }
}
