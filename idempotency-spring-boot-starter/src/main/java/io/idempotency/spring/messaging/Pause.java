package io.idempotency.spring.messaging;

import java.time.Duration;

/** A message that goes back to its broker comes again at once: the listener waits a little before. */
final class Pause {

    private Pause() {}

    static void of(Duration wanted, Duration longest) {
        try {
            Thread.sleep(Math.min(Math.max(wanted.toMillis(), 1), longest.toMillis()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
