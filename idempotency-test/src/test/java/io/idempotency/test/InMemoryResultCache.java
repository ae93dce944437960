package io.idempotency.test;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.ResultCache;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The smallest cache that keeps its word, and can break. */
final class InMemoryResultCache implements ResultCache {

    private static final Duration BAR = Duration.ofSeconds(60);
    private static final Duration OLDEST = Duration.ofSeconds(5);

    final AtomicInteger gets = new AtomicInteger();
    final AtomicInteger puts = new AtomicInteger();
    final AtomicInteger bars = new AtomicInteger();
    volatile @Nullable CountDownLatch silence;
    volatile boolean broken;
    private final MutableClock clock;
    private final Map<RecordId, Entry> entries = new ConcurrentHashMap<>();

    InMemoryResultCache(MutableClock clock) {
        this.clock = clock;
    }

    @Override
    public String name() {
        return "in-memory";
    }

    boolean hasCopyOf(RecordId id) {
        Entry entry = entries.get(id);
        return entry != null && entry.done != null && entry.end - clock.nanoTime() > 0;
    }

    /** What is left of the life of what stands there. */
    Duration lifeOf(RecordId id) {
        Entry entry = entries.get(id);
        return entry == null ? Duration.ZERO : Duration.ofNanos(entry.end - clock.nanoTime());
    }

    boolean isBarred(RecordId id) {
        Entry entry = entries.get(id);
        return entry != null && entry.done == null && entry.end - clock.nanoTime() > 0;
    }

    @Override
    public OptionalLong time() {
        return OptionalLong.of(clock.nanoTime() / 1_000_000);
    }

    @Override
    public Optional<ClaimResult.Done> get(RecordId id) {
        gets.incrementAndGet();
        answer();
        Entry entry = entries.get(id);
        return entry != null && hasCopyOf(id) ? Optional.ofNullable(entry.done) : Optional.empty();
    }

    @Override
    public void put(RecordId id, ClaimResult.Done done, Duration lifetime, OptionalLong asOf) {
        puts.incrementAndGet();
        answer();
        long age = clock.nanoTime() - asOf.orElseThrow() * 1_000_000;
        if (age <= OLDEST.toNanos()) {
            Entry entry = new Entry(done, clock.nanoTime() - age + lifetime.toNanos());
            entries.compute(id, (key, old) -> isBarred(id) || hasCopyOf(id) ? old : entry);
        }
    }

    @Override
    public void bar(RecordId id) {
        bars.incrementAndGet();
        answer();
        entries.put(id, new Entry(null, clock.nanoTime() + BAR.toNanos()));
    }

    void loseEverything() {
        entries.clear();
    }

    private void answer() {
        CountDownLatch wait = silence;
        if (wait != null) {
            try {
                wait.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StoreUnavailableException("interrupted", e);
            }
        }
        if (broken) {
            throw new StoreUnavailableException("broken", null);
        }
    }

    /** @param done null for a bar */
    private record Entry(ClaimResult.@Nullable Done done, long end) {}
}
