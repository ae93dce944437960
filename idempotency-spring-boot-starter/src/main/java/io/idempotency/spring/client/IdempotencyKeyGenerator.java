package io.idempotency.spring.client;

import java.util.UUID;

/**
 * Makes a key for a call that has none of its own. Every key must be unlike every other one, of all processes. Called from
 * several threads.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface IdempotencyKeyGenerator {

    /** @return 1 to 255 visible ASCII characters */
    String nextKey();

    /** UUIDs of version 7: ordered by time, so that an index of the callee grows at its end. */
    static IdempotencyKeyGenerator uuidV7() {
        return TimeOrderedKeys.INSTANCE;
    }

    /** UUIDs of version 4: nothing but random, for keys that must not tell when they were made. */
    static IdempotencyKeyGenerator uuidV4() {
        return () -> UUID.randomUUID().toString();
    }
}
