package io.idempotency.test;

import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionalStore;
import io.idempotency.support.TieredIdempotencyStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A tiered store on the smallest database and the smallest cache. */
final class TieredFixture implements TransactionalStoreFixture {

    final InMemoryTransactions database = new InMemoryTransactions();
    final InMemoryResultCache cache = new InMemoryResultCache(database.clock());
    final FaultyStore faults = FaultyStore.around(database.store());
    final List<String> told = new CopyOnWriteArrayList<>();
    private final TieredIdempotencyStore store;

    /** With a cache that always answers in the end: nothing depends on how busy the machine is. */
    TieredFixture() {
        this(Duration.ofSeconds(30));
    }

    TieredFixture(Duration patience) {
        store = TieredIdempotencyStore.builder((TransactionalStore) faults.store(), cache)
                .patience(patience)
                .afterCommit(database::afterCommit)
                .listeners(List.of(new IdempotencyListener() {
                    @Override
                    public void onTierAsked(String result) {
                        told.add(result);
                    }
                }))
                .build();
    }

    /** Makes it worth asking the cache first about the operation of the contracts. */
    TieredFixture warmedUp() {
        var request = ClaimRequests.request(ClaimRequests.freshId());
        store.tryClaim(request);
        store.complete(new Lease(request, 1), ClaimRequests.result("warm"), ClaimRequests.LONG);
        for (int i = 0; i < 100; i++) {
            if (!(store.tryClaim(ClaimRequests.request(request.id())) instanceof ClaimResult.Done)) {
                throw new IllegalStateException("Not a duplicate");
            }
        }
        return this;
    }

    @Override
    public TieredIdempotencyStore store() {
        return store;
    }

    @Override
    public void advance(Duration time) {
        database.advance(time);
    }

    @Override
    public <R extends @Nullable Object> R inTransaction(Opening opening, Work<R> work) throws Exception {
        return database.inTransaction(opening, work);
    }

    @Override
    public void addBusinessRow(String text) {
        database.addBusinessRow(text);
    }

    @Override
    public long businessRows(String text) {
        return database.businessRows(text);
    }

    @Override
    public boolean forceResult(RecordId id, StoredResult result) {
        return database.forceResult(id, result);
    }

    @Override
    public void close() {
        store.close();
    }
}
