package io.idempotency.jdbc;

import io.idempotency.StoreUnavailableException;
import java.time.Duration;

/** A short rest before a row that somebody has locked is asked for again. */
final class Pause {

    private Pause() {}

    static void of(Duration duration) {
        try {
            Thread.sleep(duration.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("Interrupted while a record was locked", e);
        }
    }
}
