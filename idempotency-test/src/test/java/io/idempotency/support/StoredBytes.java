package io.idempotency.support;

import io.idempotency.spi.RecordId;

/** Reaches into an in-memory store, which has no server whose bytes could be changed. */
public final class StoredBytes {

    private StoredBytes() {}

    /** Changes one byte of a stored result. */
    public static void damage(InMemoryIdempotencyStore store, RecordId id) {
        byte[] result = store.records.get(id).result;
        result[result.length / 2] ^= 1;
    }
}
