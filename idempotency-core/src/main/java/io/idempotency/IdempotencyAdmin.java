package io.idempotency;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What an operator may do to one record. Every call reaches the store, and throws {@link StoreUnavailableException} if that cannot
 * answer; none of them shows a stored result. Thread-safe.
 *
 * @since 0.1.0
 */
public interface IdempotencyAdmin {

    /** What stands there now. */
    Optional<Status> find(String operation, String scope, String key);

    /** Removes the record whatever its state: the next call with this key runs. An owner that still runs loses its lease. */
    boolean forget(String operation, String scope, String key);

    /**
     * Decides an abandoned record: the work was done, but its result is not known, so duplicates get
     * {@link ResultNotReplayableException}.
     *
     * @return whether the record was abandoned and is now done
     */
    boolean resolveAsDone(String operation, String scope, String key);

    /**
     * Decides an abandoned record: the work was not done, so the next call with this key runs. Only right when the vanished owner can
     * no longer do it.
     *
     * @return whether the record was abandoned and is now gone
     */
    boolean resolveAsNotDone(String operation, String scope, String key);

    /**
     * State of one record, by the clock of its store.
     *
     * @param state where the record stands
     * @param guarantee the guarantee under which it was claimed
     * @param fencingToken token of its latest attempt
     * @param createdAt when it was first claimed
     * @param completedAt when it was completed
     * @param expiresIn what is left until it counts as absent
     */
    record Status(
            State state,
            Guarantee guarantee,
            long fencingToken,
            Instant createdAt,
            @Nullable Instant completedAt,
            Duration expiresIn) {}

    /** Where a record stands. */
    enum State {
        /** An owner is working. */
        PROCESSING,
        /** The owner's lease is over and there is no result. */
        ABANDONED,
        /** There is a result. */
        DONE
    }
}
