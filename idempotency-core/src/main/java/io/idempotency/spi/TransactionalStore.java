package io.idempotency.spi;

import java.time.Duration;
import java.util.Optional;

/**
 * A store that lives in the application's database, so that a claim and its completion can be part of the business transaction.
 *
 * <p>The methods named {@code …InTransaction} work on the connection that is bound to the calling thread and fail with
 * {@link IllegalStateException} if no transaction is open on it. They throw {@link TransactionConflictException} when the database
 * has ended the transaction in favour of another one.
 *
 * @since 0.1.0
 */
public interface TransactionalStore extends IdempotencyStore {

    /**
     * What has to happen before the library opens the transaction, on a connection of its own: a first look, and for a
     * {@code separate} claim the committed placeholder.
     *
     * @param serializable whether the transaction is going to be SERIALIZABLE
     * @return an answer that makes the transaction needless; empty to go on with {@link #claimInTransaction}
     */
    Optional<ClaimResult> beforeTransaction(ClaimRequest request, boolean serializable);

    /**
     * Claims the key in a transaction that the library has opened and that has done nothing yet. Never waits for another attempt.
     * After any answer but {@code Claimed} the caller rolls the transaction back at once. {@code Abandoned} is taken over by
     * calling it again, in the same transaction, with a request that names the seen owner.
     */
    ClaimResult claimInTransaction(ClaimRequest request, boolean serializable);

    /**
     * Claims the key in a transaction that the application has opened. Never waits for another attempt; whatever the answer, the
     * transaction stays usable and is not marked for rollback. After a {@link TransactionConflictException} it is gone, and the caller
     * marks it.
     */
    ClaimResult claimInOpenTransaction(ClaimRequest request);

    /**
     * {@link #claimInTransaction} straight to done, for work whose result is known before it has run. The transaction needs no
     * completion then, but may have one: {@link #completeInTransaction} replaces the result.
     *
     * <p>A store that has nothing better claims and completes.
     */
    default ClaimResult recordDoneInTransaction(ClaimRequest request, StoredResult result, boolean serializable) {
        return completed(claimInTransaction(request, serializable), result);
    }

    /** {@link #claimInOpenTransaction} straight to done, as {@link #recordDoneInTransaction} does it. */
    default ClaimResult recordDoneInOpenTransaction(ClaimRequest request, StoredResult result) {
        return completed(claimInOpenTransaction(request), result);
    }

    private ClaimResult completed(ClaimResult answer, StoredResult result) {
        if (answer instanceof ClaimResult.Claimed claimed
                && completeInTransaction(
                                claimed.lease(),
                                result,
                                claimed.lease().request().retention())
                        == WriteOutcome.LOST) {
            return new ClaimResult.Contended();
        }
        return answer;
    }

    /**
     * Stores the result in the transaction of the claim, in place of the one that was stored with the claim; visible when that
     * transaction commits. On {@code LOST} the caller must roll back.
     */
    WriteOutcome completeInTransaction(Lease lease, StoredResult result, Duration retention);

    /** Tidies up after the transaction of a claim was rolled back. Best effort: nothing depends on it, failures are logged. */
    void afterRollback(Lease lease);

    /**
     * Finds out what became of a commit whose answer was lost, on a new connection: waits a bounded time for the key's lock, then
     * looks for the lease's owner.
     */
    CommitProbe probe(Lease lease);

    /** What became of a commit. */
    enum CommitProbe {
        /** The record is done and carries the owner. */
        COMMITTED,
        /** The key's lock was obtained and the owner's result is not there. */
        ROLLED_BACK,
        /** The lock could not be obtained in time, or the database did not answer. */
        UNKNOWN
    }
}
