package io.idempotency.spi;

import io.idempotency.Guarantee;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a store answers to a claim. Durations are measured by the store's clock when it answered.
 *
 * @since 0.1.0
 */
public sealed interface ClaimResult {

    /**
     * The caller owns the key. Also the answer where the record already carries the caller's own owner: a driver may have sent the
     * command twice.
     *
     * @param lease the granted right
     * @param takeover whether an abandoned record of another owner was taken over
     */
    record Claimed(Lease lease, boolean takeover) implements ClaimResult {}

    /**
     * Another attempt owns the key and is alive.
     *
     * @param fingerprint of that attempt; {@link Fingerprint#NONE} where it is not visible
     * @param leaseLeft what is left of its lease; {@code null} where it holds a transaction instead
     */
    record InProgress(Fingerprint fingerprint, @Nullable Duration leaseLeft) implements ClaimResult {}

    /**
     * The work was done and its retention is not over.
     *
     * @param fingerprint of the attempt that did it
     * @param owner of the attempt that did it
     * @param result what it left
     * @param retentionLeft until the record counts as absent
     */
    record Done(Fingerprint fingerprint, Owner owner, StoredResult result, Duration retentionLeft)
            implements ClaimResult {}

    /**
     * The owner's lease is over and there is no result.
     *
     * @param fingerprint of the vanished attempt
     * @param owner of the vanished attempt: what a takeover has to name
     * @param guarantee under which it claimed the key
     */
    record Abandoned(Fingerprint fingerprint, Owner owner, Guarantee guarantee) implements ClaimResult {}

    /**
     * A record is there that cannot be read. It is neither absent nor free.
     *
     * @param fingerprint of the record, {@link Fingerprint#NONE} where it cannot be read
     * @param reason what is wrong with it; no stored data
     */
    record Unreadable(Fingerprint fingerprint, String reason) implements ClaimResult {}

    /**
     * Only from a claim in a transaction: somebody else holds the record right now, and what it will say can only be read after
     * this transaction has ended.
     */
    record Contended() implements ClaimResult {}
}
