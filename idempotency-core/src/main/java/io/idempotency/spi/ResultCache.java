package io.idempotency.spi;

import io.idempotency.StoreUnavailableException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Keeps copies of results that a store has, for a {@link io.idempotency.support.TieredIdempotencyStore}. It may lose any of them at any
 * time; what it answers was in the store not long ago and is still true, because a result that is done does not change.
 *
 * <p>May be called on any thread. A method that cannot know what happened throws {@link StoreUnavailableException}.
 *
 * @since 0.1.0
 */
public interface ResultCache {

    /** Short name for logs, for example {@code redis}. */
    String name();

    /**
     * The copy of a result, with what is left of its retention. Never an answer of a replica, which may not know yet that the record
     * was forgotten.
     */
    Optional<ClaimResult.Done> get(RecordId id);

    /**
     * The time of the cache's own clock as far as it is known here: never ahead, behind by what an answer needs on its way. Empty where
     * the cache has not been heard for long. Does not ask the cache.
     */
    OptionalLong time();

    /**
     * Keeps a copy, unless there is one, or the record was barred, or it is too late: the copy may be older than what has become of the
     * record since.
     *
     * @param done what was read from the store, or written to it
     * @param lifetime how long the copy may live, counted from {@code asOf}
     * @param asOf what {@link #time()} said before the store was asked
     */
    void put(RecordId id, ClaimResult.Done done, Duration lifetime, OptionalLong asOf);

    /** Removes the copy and keeps new ones away, for longer than a copy of what was read before could come in time. */
    void bar(RecordId id);
}
