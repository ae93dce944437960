package io.idempotency.support;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.Lease;
import io.idempotency.spi.PurgeableStore;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.ResultCache;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionalStore;
import io.idempotency.spi.WriteOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store in a database, with a cache before it that answers for finished work. The database decides everything: a claim is granted by
 * it alone, and the cache has only results that are committed there. Whatever the cache loses, forgets or does not answer makes calls
 * slower, never wrong.
 *
 * <p>The cache is asked first only for operations some of whose last calls were duplicates. It is asked for a moment at most, and
 * while it does not answer it is left alone.
 *
 * <p>{@link #forget} is the one method that needs the cache: it fails, and changes nothing, while the cache does not answer, because a
 * copy of what is to be forgotten may be in there.
 *
 * @since 0.1.0
 */
public final class TieredIdempotencyStore implements TransactionalStore, PurgeableStore, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(TieredIdempotencyStore.class);

    // The clocks of cache and database do not run alike to the millisecond.
    private static final Duration MARGIN = Duration.ofSeconds(1);
    private static final Duration SHORTEST_LIFETIME = Duration.ofSeconds(2);

    // Half of what a bar lasts; the other half is more than it takes to write a copy of what was read before it.
    private static final Duration BAR_HOLDS = Duration.ofSeconds(30);

    private static final RecordId NOBODYS = RecordId.of("", "", "");

    private final TransactionalStore database;
    private final BoundedCache cache;
    private final Duration cacheTtl;
    private final Consumer<Runnable> afterCommit;
    private final List<IdempotencyListener> listeners;
    private final LongSupplier nanoTime;
    private final Map<String, DuplicateShare> shares = new ConcurrentHashMap<>();

    // If the database is told twice that a lease is done, it says yes twice, but not since when and with which result.
    private final Set<Lease> told = leases();

    // The application may roll back a part of its transaction, and commit the rest.
    private final Set<Lease> inOpenTransaction = leases();

    private TieredIdempotencyStore(Builder builder) {
        this.database = builder.database;
        this.cache = new BoundedCache(builder.cache, builder.patience);
        this.cacheTtl = builder.cacheTtl;
        this.afterCommit = builder.afterCommit;
        this.listeners = List.copyOf(builder.listeners);
        this.nanoTime = builder.nanoTime;
    }

    private static Set<Lease> leases() {
        return Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    }

    /** A store in this database, with this cache before it. */
    public static Builder builder(TransactionalStore database, ResultCache cache) {
        return new Builder(Objects.requireNonNull(database, "database"), Objects.requireNonNull(cache, "cache"));
    }

    /** The store that decides. */
    public TransactionalStore database() {
        return database;
    }

    /** The cache before it. */
    public ResultCache cache() {
        return cache.cache();
    }

    /** Whether the cache answers now. Waits a moment at most. */
    public boolean cacheAnswers() {
        return cache.get(NOBODYS) != null;
    }

    @Override
    public String name() {
        return "tiered(" + cache.cache().name() + ", " + database.name() + ")";
    }

    @Override
    public ClaimResult tryClaim(ClaimRequest request) {
        Optional<ClaimResult.Done> known = ask(request);
        if (known.isPresent()) {
            return known.get();
        }
        OptionalLong asOf = cache.time();
        return learned(request, database.tryClaim(request), asOf);
    }

    @Override
    public ClaimResult recordDone(ClaimRequest request, StoredResult result) {
        OptionalLong asOf = cache.time();
        if (request.takeOverFrom() != null) {
            return barred(request.id(), () -> database.recordDone(request, result));
        }
        ClaimResult answer = database.recordDone(request, result);
        if (answer instanceof ClaimResult.Claimed) {
            copy(request, result, request.retention(), asOf);
        }
        return answer;
    }

    @Override
    public WriteOutcome complete(Lease lease, StoredResult result, Duration retention) {
        OptionalLong asOf = cache.time();
        if (isTakeover(lease)) {
            return barred(lease.id(), () -> database.complete(lease, result, retention));
        }
        boolean first = told.add(lease);
        WriteOutcome outcome = database.complete(lease, result, retention);
        if (outcome == WriteOutcome.APPLIED && first) {
            copy(lease.request(), result, retention, asOf);
        }
        return outcome;
    }

    @Override
    public WriteOutcome release(Lease lease) {
        return isTakeover(lease) ? barred(lease.id(), () -> database.release(lease)) : database.release(lease);
    }

    // Also how an operator resolves a record: he takes it over and then completes or releases it.
    private static boolean isTakeover(Lease lease) {
        return lease.request().takeOverFrom() != null;
    }

    private <R> R barred(RecordId id, Supplier<R> change) {
        cache.bar(id);
        try {
            return change.get();
        } finally {
            cache.bar(id);
        }
    }

    @Override
    public WriteOutcome renew(Lease lease) {
        return database.renew(lease);
    }

    @Override
    public Optional<IdempotencyRecord> find(RecordId id) {
        OptionalLong asOf = cache.time();
        Optional<IdempotencyRecord> found = database.find(id);
        found.map(IdempotencyRecord::asClaimResult)
                .filter(ClaimResult.Done.class::isInstance)
                .ifPresent(done -> copy(id, (ClaimResult.Done) done, asOf));
        return found;
    }

    /**
     * {@inheritDoc}
     *
     * @throws StoreUnavailableException if the database or the cache does not answer; while only the cache is silent, nothing has
     *     changed
     */
    @Override
    public boolean forget(RecordId id) {
        long barredAt = nanoTime.getAsLong();
        cache.cache().bar(id);
        boolean removed = database.forget(id);
        try {
            cache.cache().bar(id);
        } catch (StoreUnavailableException e) {
            if (nanoTime.getAsLong() - barredAt > BAR_HOLDS.toNanos()) {
                throw new StoreUnavailableException(
                        "Record " + id + " was removed from the database, but the cache "
                                + cache.cache().name() + " may still answer with it; forget it again",
                        e);
            }
            log.debug("The cache was told once that {} is to be forgotten, and in time", id, e);
        }
        return removed;
    }

    @Override
    public int purgeExpired(int batchSize) {
        return database instanceof PurgeableStore purgeable ? purgeable.purgeExpired(batchSize) : 0;
    }

    @Override
    public Duration purgeLag() {
        return database instanceof PurgeableStore purgeable ? purgeable.purgeLag() : Duration.ZERO;
    }

    @Override
    public Optional<ClaimResult> beforeTransaction(ClaimRequest request, boolean serializable) {
        Optional<ClaimResult.Done> known = ask(request);
        if (known.isPresent()) {
            return Optional.of(known.get());
        }
        OptionalLong asOf = cache.time();
        return database.beforeTransaction(request, serializable).map(answer -> learned(request, answer, asOf));
    }

    // What a transaction reads may never be committed. The copy is made of what is read outside of it.
    @Override
    public ClaimResult claimInTransaction(ClaimRequest request, boolean serializable) {
        return learnedInTransaction(request, database.claimInTransaction(request, serializable));
    }

    // It is copied when its first duplicate comes: until the commit another result may take its place.
    @Override
    public ClaimResult recordDoneInTransaction(ClaimRequest request, StoredResult result, boolean serializable) {
        return barredByTakeover(
                request,
                () -> learnedInTransaction(request, database.recordDoneInTransaction(request, result, serializable)));
    }

    private ClaimResult learnedInTransaction(ClaimRequest request, ClaimResult answer) {
        count(request, answer);
        if (answer instanceof ClaimResult.Done) {
            cache.later(() -> find(request.id()));
        }
        return answer;
    }

    private ClaimResult barredByTakeover(ClaimRequest request, Supplier<ClaimResult> claim) {
        if (request.takeOverFrom() == null) {
            return claim.get();
        }
        cache.bar(request.id());
        ClaimResult answer = claim.get();
        if (answer instanceof ClaimResult.Claimed) {
            afterCommit.accept(() -> cache.bar(request.id()));
        }
        return answer;
    }

    @Override
    public ClaimResult claimInOpenTransaction(ClaimRequest request) {
        return claimInOpenTransaction(request, () -> database.claimInOpenTransaction(request));
    }

    @Override
    public ClaimResult recordDoneInOpenTransaction(ClaimRequest request, StoredResult result) {
        return claimInOpenTransaction(
                request, () -> barredByTakeover(request, () -> database.recordDoneInOpenTransaction(request, result)));
    }

    private ClaimResult claimInOpenTransaction(ClaimRequest request, Supplier<ClaimResult> claim) {
        Optional<ClaimResult.Done> known = ask(request);
        if (known.isPresent()) {
            return known.get();
        }
        ClaimResult answer = claim.get();
        count(request, answer);
        if (answer instanceof ClaimResult.Claimed claimed) {
            inOpenTransaction.add(claimed.lease());
        }
        return answer;
    }

    @Override
    public WriteOutcome completeInTransaction(Lease lease, StoredResult result, Duration retention) {
        OptionalLong asOf = cache.time();
        if (isTakeover(lease)) {
            cache.bar(lease.id());
        }
        WriteOutcome outcome = database.completeInTransaction(lease, result, retention);
        if (outcome == WriteOutcome.APPLIED) {
            if (isTakeover(lease)) {
                afterCommit.accept(() -> cache.bar(lease.id()));
            } else if (inOpenTransaction.contains(lease)) {
                afterCommit.accept(() -> cache.later(() -> find(lease.id())));
            } else {
                afterCommit.accept(() -> copy(lease.request(), result, retention, asOf));
            }
        }
        return outcome;
    }

    @Override
    public void afterRollback(Lease lease) {
        database.afterRollback(lease);
    }

    @Override
    public CommitProbe probe(Lease lease) {
        return database.probe(lease);
    }

    /** What the cache knows, if it pays to ask it. A takeover has seen in the database that the work is not done. */
    private Optional<ClaimResult.Done> ask(ClaimRequest request) {
        DuplicateShare share = shareOf(request);
        if (request.takeOverFrom() != null || !share.isWorthAsking()) {
            tell("skipped");
            return Optional.empty();
        }
        Optional<ClaimResult.Done> found = cache.get(request.id());
        if (found == null) {
            tell("unavailable");
            return Optional.empty();
        }
        tell(found.isPresent() ? "hit" : "miss");
        if (found.isPresent()) {
            share.record(true);
        }
        return found;
    }

    private DuplicateShare shareOf(ClaimRequest request) {
        return shares.computeIfAbsent(request.operation(), operation -> new DuplicateShare());
    }

    /** Takes in what the database has answered outside of every transaction. */
    private ClaimResult learned(ClaimRequest request, ClaimResult answer, OptionalLong asOf) {
        count(request, answer);
        if (answer instanceof ClaimResult.Done done) {
            copy(request.id(), done, asOf);
        }
        return answer;
    }

    private void count(ClaimRequest request, ClaimResult answer) {
        if (answer instanceof ClaimResult.Done) {
            shareOf(request).record(true);
        } else if (answer instanceof ClaimResult.Claimed) {
            shareOf(request).record(false);
        }
    }

    private void copy(ClaimRequest request, StoredResult result, Duration retention, OptionalLong asOf) {
        copy(request.id(), new ClaimResult.Done(request.fingerprint(), request.owner(), result, retention), asOf);
    }

    private void copy(RecordId id, ClaimResult.Done done, OptionalLong asOf) {
        Duration left = done.retentionLeft().minus(MARGIN);
        Duration lifetime = left.compareTo(cacheTtl) < 0 ? left : cacheTtl;
        if (lifetime.compareTo(SHORTEST_LIFETIME) >= 0) {
            cache.later(() -> cache.cache().put(id, done, lifetime, asOf));
        }
    }

    private void tell(String result) {
        for (IdempotencyListener listener : listeners) {
            try {
                listener.onTierAsked(result);
            } catch (RuntimeException | LinkageError e) {
                log.warn("An idempotency listener threw; the call goes on", e);
            }
        }
    }

    /** Stops using the cache. Copies that wait to be written are not. */
    @Override
    public void close() {
        cache.close();
    }

    /**
     * Settings of a store.
     *
     * @since 0.1.0
     */
    public static final class Builder {

        private final TransactionalStore database;
        private final ResultCache cache;
        private final List<IdempotencyListener> listeners = new ArrayList<>();
        private Duration cacheTtl = Duration.ofHours(1);
        private Duration patience = Duration.ofMillis(100);
        private Consumer<Runnable> afterCommit = work -> {};
        private LongSupplier nanoTime = System::nanoTime;

        private Builder(TransactionalStore database, ResultCache cache) {
            this.database = database;
            this.cache = cache;
        }

        /** How long a copy is kept at most, an hour by default. */
        public Builder cacheTtl(Duration ttl) {
            if (ttl.compareTo(SHORTEST_LIFETIME) < 0) {
                throw new IllegalArgumentException("A copy is kept for at least 2 s, not " + ttl);
            }
            this.cacheTtl = ttl;
            return this;
        }

        /** How long a call waits for the cache at most, whatever timeouts that has; 100 ms by default. */
        public Builder patience(Duration longest) {
            if (longest.toMillis() < 1) {
                throw new IllegalArgumentException("A call waits for the cache for at least 1 ms, not " + longest);
            }
            this.patience = longest;
            return this;
        }

        /**
         * How work is done after the transaction of the calling thread has been committed, and only then. Without it, results of
         * transactions are copied when their first duplicate comes.
         */
        public Builder afterCommit(Consumer<Runnable> hook) {
            this.afterCommit = Objects.requireNonNull(hook, "afterCommit");
            return this;
        }

        /** Who is told how the cache has answered. */
        public Builder listeners(Collection<? extends IdempotencyListener> added) {
            this.listeners.addAll(added);
            return this;
        }

        /** What tells for how long the cache has known that a record is to be forgotten. */
        Builder nanoTime(LongSupplier supplier) {
            this.nanoTime = supplier;
            return this;
        }

        public TieredIdempotencyStore build() {
            return new TieredIdempotencyStore(this);
        }
    }
}
