package io.idempotency.spi;

import io.idempotency.StoreUnavailableException;
import java.time.Duration;
import java.util.Optional;

/**
 * One durable record per key and a few transitions on it. The store is mechanism; what they mean is decided by the engine.
 *
 * <pre>
 *                 tryClaim                                complete: only the owner
 *  absent ──────────────────▶ PROCESSING ───────────────────────────────────▶ DONE ──retention──▶ absent
 *    ▲  release: only the owner ──┤
 *                                 └ lease over by the store's clock = abandoned; a claim that names the seen owner takes it over
 * </pre>
 *
 * <p>Every method is atomic with respect to every other one on the same id, may be called on any thread, never waits for another
 * attempt to finish, and throws {@link StoreUnavailableException} when it cannot know what happened. Only the store's own clock
 * decides what is over. An expired record (past its retention and with no live lease) counts as absent, purged or not.
 *
 * @since 0.1.0
 */
public interface IdempotencyStore {

    /** Short name for logs and metrics, for example {@code jdbc(PostgreSQL 16)}. */
    String name();

    /**
     * Claims the key with a lease, in a step of its own that is visible to everybody when the method returns.
     *
     * <p>Absent or expired → {@code Claimed} with token 1. Done → {@code Done}. Processing with a live lease → {@code InProgress};
     * with the request's own owner → {@code Claimed} (the command was sent twice). Processing with a lease that is over →
     * {@code Abandoned}, or, if the request names that owner in {@code takeOverFrom}, {@code Claimed} with the next token: lease,
     * owner, guarantee and fingerprint are then those of the request.
     */
    ClaimResult tryClaim(ClaimRequest request);

    /**
     * Stores the result: PROCESSING of this owner → DONE. A lease that is over does not matter as long as nobody took the key over
     * and the record has not expired.
     *
     * @param retention how long the result is kept from now
     * @return {@code APPLIED} also where the record is already done by this owner
     */
    WriteOutcome complete(Lease lease, StoredResult result, Duration retention);

    /**
     * Claims the key straight to DONE and answers {@code Claimed}: where it is absent or expired, where its placeholder is held by
     * no transaction, where it is processing of the request's own owner, and where it is abandoned and the request names the seen
     * owner in {@code takeOverFrom}. Anything else is answered as by {@link #tryClaim} and left as it is. The retention of the
     * request counts from now.
     */
    ClaimResult recordDone(ClaimRequest request, StoredResult result);

    /** Removes the record: PROCESSING of this owner → absent. {@code LOST} where there is none, whatever the reason. */
    WriteOutcome release(Lease lease);

    /** Starts the lease anew from now, with the length of the request, if it is PROCESSING of this owner. The token stays. */
    WriteOutcome renew(Lease lease);

    /** What stands there, expired records excepted. Takes no lock and decides nothing. */
    Optional<IdempotencyRecord> find(RecordId id);

    /** Removes the record whatever its state, on an operator's word. */
    boolean forget(RecordId id);
}
