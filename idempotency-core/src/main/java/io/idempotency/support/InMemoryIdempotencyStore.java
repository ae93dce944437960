package io.idempotency.support;

import io.idempotency.Guarantee;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.PurgeableStore;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.WriteOutcome;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps records in the memory of this process: for tests, for development, and for services of one node that may forget on a
 * restart.
 *
 * <p>It is bounded in two ways, by the number of its records and by the bytes of their results. Where a bound is reached, expired
 * records go first and then the done ones that are closest to their expiry, so that their keys are free before their time. A record
 * that is processing is never given up before it has expired: a claim that finds no room throws {@link StoreUnavailableException}.
 * The latest result is kept even if it alone is larger than the second bound.
 *
 * @since 0.1.0
 */
public final class InMemoryIdempotencyStore implements PurgeableStore {

    /** How many records a store keeps unless it is told otherwise. */
    public static final int DEFAULT_MAXIMUM_RECORDS = 100_000;

    private static final Logger logger = LoggerFactory.getLogger(InMemoryIdempotencyStore.class);

    private static final Duration LONGEST = Duration.ofDays(36_500);

    // Every claim that adds a record removes up to two expired ones, so that the dead never pile up between purges.
    private static final int EXPIRED_PER_CLAIM = 2;

    private final LongSupplier nanoTime;
    private final Clock clock;
    private final int maximumRecords;
    private final long maximumResultBytes;
    private final long origin;

    private final ReentrantLock lock = new ReentrantLock();
    final Map<RecordId, Entry> records = new HashMap<>();
    private final TreeSet<Entry> processing = new TreeSet<>(Entry.BY_EXPIRY);
    private final TreeSet<Entry> done = new TreeSet<>(Entry.BY_EXPIRY);
    private long resultBytes;
    private long written;
    private boolean warned;

    /**
     * A store of the given bounds.
     *
     * @param nanoTime decides what is over, as {@link System#nanoTime()} does
     * @param clock tells operators when a record was made; decides nothing
     * @param maximumRecords how many records are kept at most
     * @param maximumResultBytes how many bytes their results take together at most
     */
    public InMemoryIdempotencyStore(LongSupplier nanoTime, Clock clock, int maximumRecords, long maximumResultBytes) {
        if (maximumRecords < 1 || maximumResultBytes < 1) {
            throw new IllegalArgumentException(
                    "The bounds are at least 1: " + maximumRecords + " records, " + maximumResultBytes + " bytes");
        }
        this.nanoTime = Objects.requireNonNull(nanoTime, "nanoTime");
        this.clock = Objects.requireNonNull(clock, "clock");
        this.maximumRecords = maximumRecords;
        this.maximumResultBytes = maximumResultBytes;
        this.origin = nanoTime.getAsLong();
    }

    /** {@value #DEFAULT_MAXIMUM_RECORDS} records, and a quarter of the heap for their results. */
    public static InMemoryIdempotencyStore onSystemClock() {
        return new InMemoryIdempotencyStore(
                System::nanoTime,
                Clock.systemUTC(),
                DEFAULT_MAXIMUM_RECORDS,
                Math.max(1, Runtime.getRuntime().maxMemory() / 4));
    }

    @Override
    public String name() {
        return "in-memory";
    }

    @Override
    public ClaimResult tryClaim(ClaimRequest request) {
        return locked(() -> {
            long now = now();
            Entry found = live(request.id(), now);
            if (found != null && !found.done() && found.owner.equals(request.owner())) {
                return new ClaimResult.Claimed(new Lease(request, found.token), false);
            }
            if (found != null && !found.abandonedBy(request.takeOverFrom(), now)) {
                return toRecord(found, now).asClaimResult();
            }
            if (found == null) {
                makeRoom(now);
            }
            Entry claimed = Entry.claimed(request, found, now, Instant.now(clock), ++written);
            put(claimed);
            return new ClaimResult.Claimed(new Lease(request, claimed.token), found != null);
        });
    }

    @Override
    public WriteOutcome complete(Lease lease, StoredResult result, Duration retention) {
        byte[] bytes = result.toBytes();
        return locked(() -> {
            long now = now();
            Entry found = live(lease.id(), now);
            if (found == null || !found.owner.equals(lease.owner())) {
                return WriteOutcome.LOST;
            }
            if (!found.done()) {
                store(found.completed(bytes, now + nanos(retention), Instant.now(clock), ++written), now);
            }
            return WriteOutcome.APPLIED;
        });
    }

    @Override
    public ClaimResult recordDone(ClaimRequest request, StoredResult result) {
        byte[] bytes = result.toBytes();
        return locked(() -> {
            ClaimResult answer = tryClaim(request);
            if (answer instanceof ClaimResult.Claimed) {
                long now = now();
                Entry claimed = Objects.requireNonNull(records.get(request.id()));
                store(claimed.completed(bytes, now + nanos(request.retention()), Instant.now(clock), ++written), now);
            }
            return answer;
        });
    }

    @Override
    public WriteOutcome release(Lease lease) {
        return locked(() -> {
            Entry found = processingOf(lease, now());
            if (found == null) {
                return WriteOutcome.LOST;
            }
            remove(found);
            return WriteOutcome.APPLIED;
        });
    }

    @Override
    public WriteOutcome renew(Lease lease) {
        return locked(() -> {
            long now = now();
            Entry found = processingOf(lease, now);
            if (found == null) {
                return WriteOutcome.LOST;
            }
            put(found.renewed(lease.request(), now, ++written));
            return WriteOutcome.APPLIED;
        });
    }

    @Override
    public Optional<IdempotencyRecord> find(RecordId id) {
        return locked(() -> {
            long now = now();
            Entry found = live(id, now);
            return found == null ? Optional.empty() : Optional.of(toRecord(found, now));
        });
    }

    @Override
    public boolean forget(RecordId id) {
        return locked(() -> {
            Entry found = records.get(id);
            if (found == null) {
                return false;
            }
            remove(found);
            return found.expiresAt > now();
        });
    }

    @Override
    public int purgeExpired(int batchSize) {
        return locked(() -> removeExpired(batchSize, now()));
    }

    /** How many records are kept now, expired ones that nothing has removed yet included. */
    public int size() {
        return locked(records::size);
    }

    private <R> R locked(Supplier<R> transition) {
        lock.lock();
        try {
            return transition.get();
        } finally {
            lock.unlock();
        }
    }

    private long now() {
        return nanoTime.getAsLong() - origin;
    }

    private static long nanos(Duration duration) {
        return (duration.compareTo(LONGEST) > 0 ? LONGEST : duration).toNanos();
    }

    private @Nullable Entry live(RecordId id, long now) {
        Entry found = records.get(id);
        return found == null || found.expiresAt <= now ? null : found;
    }

    private @Nullable Entry processingOf(Lease lease, long now) {
        Entry found = live(lease.id(), now);
        return found == null || found.done() || !found.owner.equals(lease.owner()) ? null : found;
    }

    private void put(Entry entry) {
        Entry previous = records.put(entry.id, entry);
        if (previous != null) {
            unindex(previous);
        }
        (entry.done() ? done : processing).add(entry);
        resultBytes += entry.resultLength();
    }

    private void remove(Entry entry) {
        records.remove(entry.id);
        unindex(entry);
    }

    private void unindex(Entry entry) {
        (entry.done() ? done : processing).remove(entry);
        resultBytes -= entry.resultLength();
    }

    private void makeRoom(long now) {
        removeExpired(EXPIRED_PER_CLAIM, now);
        if (records.size() < maximumRecords) {
            return;
        }
        if (done.isEmpty()) {
            throw new StoreUnavailableException(
                    "The in-memory store holds its maximum of " + maximumRecords
                            + " records, and all of them are being processed",
                    null);
        }
        giveUp(done.first());
    }

    private void store(Entry completed, long now) {
        put(completed);
        while (resultBytes > maximumResultBytes && removeExpired(1, now) == 1) {}
        while (resultBytes > maximumResultBytes && done.size() > 1) {
            Entry first = done.first();
            giveUp(first == completed ? Objects.requireNonNull(done.higher(first)) : first);
        }
    }

    private void giveUp(Entry entry) {
        remove(entry);
        if (!warned) {
            warned = true;
            logger.warn(
                    "The in-memory store has reached a bound ({} records, {} bytes of results) and gives up results before their"
                            + " retention is over: their duplicates will run again. Use the jdbc or the redis store.",
                    maximumRecords,
                    maximumResultBytes);
        }
    }

    private int removeExpired(int atMost, long now) {
        int removed = 0;
        while (removed < atMost && (removeIfExpired(done, now) || removeIfExpired(processing, now))) {
            removed++;
        }
        return removed;
    }

    private boolean removeIfExpired(TreeSet<Entry> entries, long now) {
        if (entries.isEmpty() || entries.first().expiresAt > now) {
            return false;
        }
        Entry expired = entries.first();
        remove(expired);
        warnIfUnresolved(expired);
        return true;
    }

    private static void warnIfUnresolved(Entry expired) {
        if (!expired.done() && expired.guarantee == Guarantee.AT_MOST_ONCE) {
            logger.warn(
                    "Record {} of operation {} has expired and was removed; it was AT_MOST_ONCE, and nobody has found out whether"
                            + " the work was done",
                    expired.id,
                    expired.operation);
        }
    }

    private static IdempotencyRecord toRecord(Entry entry, long now) {
        StoredResult result = null;
        String unreadable = null;
        if (entry.result != null) {
            try {
                result = StoredResult.fromBytes(entry.result);
            } catch (IllegalArgumentException e) {
                unreadable = e.getMessage();
            }
        }
        return new IdempotencyRecord(
                entry.id,
                entry.operation,
                entry.guarantee,
                entry.done(),
                entry.fingerprint,
                entry.owner,
                entry.token,
                entry.createdAt,
                entry.completedAt,
                entry.done() ? null : Duration.ofNanos(entry.leaseEnd - now),
                Duration.ofNanos(entry.expiresAt - now),
                result,
                unreadable);
    }

    /** One version of a record. Never changed, only replaced. */
    static final class Entry {

        static final Comparator<Entry> BY_EXPIRY =
                Comparator.<Entry>comparingLong(entry -> entry.expiresAt).thenComparingLong(entry -> entry.version);

        final RecordId id;
        final String operation;
        final Guarantee guarantee;
        final Owner owner;
        final Fingerprint fingerprint;
        final long token;
        final long leaseEnd;
        final long expiresAt;
        final Instant createdAt;
        final @Nullable Instant completedAt;
        final byte @Nullable [] result;
        final long version;

        private Entry(
                ClaimRequest request, long token, long leaseEnd, long expiresAt, Instant createdAt, long version) {
            this.id = request.id();
            this.operation = request.operation();
            this.guarantee = request.guarantee();
            this.owner = request.owner();
            this.fingerprint = request.fingerprint();
            this.token = token;
            this.leaseEnd = leaseEnd;
            this.expiresAt = expiresAt;
            this.createdAt = createdAt;
            this.completedAt = null;
            this.result = null;
            this.version = version;
        }

        private Entry(
                Entry from,
                long leaseEnd,
                long expiresAt,
                @Nullable Instant completedAt,
                byte @Nullable [] result,
                long version) {
            this.id = from.id;
            this.operation = from.operation;
            this.guarantee = from.guarantee;
            this.owner = from.owner;
            this.fingerprint = from.fingerprint;
            this.token = from.token;
            this.leaseEnd = leaseEnd;
            this.expiresAt = expiresAt;
            this.createdAt = from.createdAt;
            this.completedAt = completedAt;
            this.result = result;
            this.version = version;
        }

        static Entry claimed(
                ClaimRequest request, @Nullable Entry takenOver, long now, Instant wallTime, long version) {
            long leaseEnd = now + nanos(request.lease());
            return new Entry(
                    request,
                    takenOver == null ? 1 : takenOver.token + 1,
                    leaseEnd,
                    leaseEnd + nanos(request.retention()),
                    takenOver == null ? wallTime : takenOver.createdAt,
                    version);
        }

        Entry completed(byte[] bytes, long expiry, Instant wallTime, long newVersion) {
            return new Entry(this, leaseEnd, expiry, wallTime, bytes, newVersion);
        }

        Entry renewed(ClaimRequest request, long now, long newVersion) {
            long newEnd = now + nanos(request.lease());
            return new Entry(this, newEnd, newEnd + nanos(request.retention()), null, null, newVersion);
        }

        boolean done() {
            return result != null;
        }

        boolean abandonedBy(@Nullable Owner seen, long now) {
            return !done() && leaseEnd <= now && owner.equals(seen);
        }

        int resultLength() {
            return result == null ? 0 : result.length;
        }
    }
}
