package io.idempotency.spi;

import java.time.Duration;

/**
 * A store whose expired records have to be removed by the library.
 *
 * @since 0.1.0
 */
public interface PurgeableStore extends IdempotencyStore {

    /**
     * Removes expired records, or moves them to an archive, never one that is leased or locked. Several nodes may call it at once.
     *
     * @param batchSize how many at most
     * @return how many were removed; call again while it is the batch size
     */
    int purgeExpired(int batchSize);

    /** For how long the record has been expired that waits for the purge the longest; zero if none does. */
    default Duration purgeLag() {
        return Duration.ZERO;
    }
}
