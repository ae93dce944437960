package io.idempotency.test;

import io.idempotency.spi.RecordId;
import io.idempotency.support.InMemoryIdempotencyStore;
import io.idempotency.support.StoredBytes;
import java.time.Duration;

/** An in-memory store whose time is moved. */
final class InMemoryStoreFixture implements StoreFixture {

    private final MutableClock clock = new MutableClock();
    private final InMemoryIdempotencyStore store =
            new InMemoryIdempotencyStore(clock::nanoTime, clock, 10_000, 64_000_000);

    @Override
    public InMemoryIdempotencyStore store() {
        return store;
    }

    @Override
    public void advance(Duration time) {
        clock.advance(time);
    }

    @Override
    public boolean breakResult(RecordId id) {
        StoredBytes.damage(store, id);
        return true;
    }
}
