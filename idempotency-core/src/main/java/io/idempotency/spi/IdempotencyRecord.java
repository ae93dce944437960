package io.idempotency.spi;

import io.idempotency.Guarantee;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What stands in a store for one id, seen by the store's clock.
 *
 * @param id identity of the record
 * @param operation name of the operation
 * @param guarantee guarantee under which it was claimed
 * @param done whether there is a result
 * @param fingerprint fingerprint of its attempt, {@link Fingerprint#NONE} where there is none
 * @param owner its attempt; {@code null} for a placeholder that no transaction has taken yet
 * @param token fencing token of its attempt
 * @param createdAt when it was first claimed
 * @param completedAt when the result was stored
 * @param leaseLeft what is left of the lease, zero or less if it is over; {@code null} where a transaction holds the key instead
 * @param expiresIn until it counts as absent
 * @param result the result, if it is done and can be read
 * @param unreadable why the record or its result cannot be read, if so
 * @since 0.1.0
 */
public record IdempotencyRecord(
        RecordId id,
        String operation,
        Guarantee guarantee,
        boolean done,
        Fingerprint fingerprint,
        @Nullable Owner owner,
        long token,
        Instant createdAt,
        @Nullable Instant completedAt,
        @Nullable Duration leaseLeft,
        Duration expiresIn,
        @Nullable StoredResult result,
        @Nullable String unreadable) {

    /** Whether its owner's lease is over without a result. A record that a transaction holds is never abandoned. */
    public boolean abandoned() {
        return !done && leaseLeft != null && !isPositive(leaseLeft);
    }

    /** How a claim of another attempt is answered that meets this record alive. */
    public ClaimResult asClaimResult() {
        if (unreadable != null) {
            return new ClaimResult.Unreadable(fingerprint, unreadable);
        }
        if (done && result != null && owner != null) {
            return new ClaimResult.Done(fingerprint, owner, result, expiresIn);
        }
        if (abandoned() && owner != null) {
            return new ClaimResult.Abandoned(fingerprint, owner, guarantee);
        }
        if (done) {
            return new ClaimResult.Unreadable(fingerprint, "record is done and has no result");
        }
        return new ClaimResult.InProgress(fingerprint, leaseLeft);
    }

    private static boolean isPositive(Duration duration) {
        return !duration.isZero() && !duration.isNegative();
    }
}
