package io.idempotency.spring.messaging;

import io.idempotency.IdempotencyException;
import io.idempotency.OperationInProgressException;
import io.idempotency.StoreUnavailableException;
import java.time.Duration;

/** A message that goes back to its broker comes again at once: the listener waits a little before. */
final class Pause {

    private Pause() {}

    /** Waits where time may heal the refusal, and tells whether it may. */
    static boolean ifTimeHeals(IdempotencyException refusal, Duration longest) {
        if (refusal instanceof OperationInProgressException busy) {
            of(busy.retryAfter(), longest);
            return true;
        }
        if (refusal instanceof StoreUnavailableException) {
            of(longest, longest);
            return true;
        }
        return false;
    }

    private static void of(Duration wanted, Duration longest) {
        try {
            Thread.sleep(Math.min(Math.max(wanted.toMillis(), 1), longest.toMillis()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
