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

    /**
     * TSIDs: 13 characters, ordered by time, unlike each other as long as every process has a node number of its own. Needs the library
     * {@code io.hypersistence:hypersistence-tsid}.
     *
     * @param node from 0 to 1023, of this process alone
     */
    static IdempotencyKeyGenerator tsid(int node) {
        return NumberedKeys.tsid(node);
    }

    /**
     * Snowflake ids: decimal numbers that count milliseconds from November 2010, ordered by time, unlike each other as long as every
     * process has a node number of its own. Needs the library {@code io.hypersistence:hypersistence-tsid}.
     *
     * @param node from 0 to 1023, of this process alone
     */
    static IdempotencyKeyGenerator snowflake(int node) {
        return NumberedKeys.snowflake(node);
    }
}
