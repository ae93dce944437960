package io.idempotency.spi;

import java.time.Duration;

/**
 * Hears what the engine does. Called on the thread of the call or of the renewal, after the fact, by many threads at once. What a
 * listener throws is logged and changes nothing.
 *
 * @since 0.1.0
 */
public interface IdempotencyListener {

    /**
     * A call has ended.
     *
     * @param outcome {@code executed}, {@code replayed}, {@code failed}, {@code unprotected} or
     *     {@link io.idempotency.ProblemCode#outcome()}
     * @param elapsed from the call to its end, the action included
     */
    default void onCallEnded(String operation, String outcome, Duration elapsed) {}

    /**
     * A call ran unprotected because the mode of its operation is {@code observe}. Called on a thread of the observer, or on that of
     * the call.
     *
     * @param outcome what the call would have come to, as in {@link #onCallEnded}; {@code unobserved} if there were too many calls to
     *     find out
     */
    default void onObserved(String operation, String outcome) {}

    /** An abandoned record was taken over: its first attempt may have had effects. */
    default void onTakeover(String operation, RecordId id, long token) {}

    /** An attempt found that it no longer owns its key. */
    default void onLeaseLost(String operation, RecordId id) {}

    /** The action succeeded and its result could not be stored. Somebody should look at it. */
    default void onCompletionFailed(String operation, RecordId id, Throwable failure) {}

    /** Another attempt was found when the key was to be recorded in the transaction. */
    default void onConflict(String operation, RecordId id) {}

    /** Work ran outside the transaction of an operation that is exactly once. */
    default void onWorkOutsideTransaction(String operation, String what) {}

    /**
     * Before the database of a tiered store is asked, its cache was or was not.
     *
     * @param result {@code hit}, {@code miss}, {@code skipped} (it does not pay for this operation now) or {@code unavailable}
     */
    default void onTierAsked(String result) {}

    /** Expired records were removed from the store. Called on the thread of the purge. */
    default void onPurged(int records) {}

    /**
     * A run of the purge has ended.
     *
     * @param lag for how long the record has been expired that still waits the longest; after runs that failed, at least so long
     */
    default void onPurgeRun(Duration lag) {}
}
