package io.idempotency.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.idempotency.Guarantee;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

class InMemoryIdempotencyStoreTests {

    private static final Duration HOUR = Duration.ofHours(1);

    private static final Instant MADE = Instant.parse("2026-01-01T00:00:00Z");

    private final AtomicLong nanoTime = new AtomicLong();

    private final Clock clock = Clock.fixed(MADE, ZoneOffset.UTC);

    @Test
    void expiredRecordsGoFirst() {
        InMemoryIdempotencyStore store = store(3);
        Lease abandoned = claim(store, "abandoned", Duration.ofSeconds(1), Duration.ofSeconds(1));
        RecordId expired = done(store, "expired", Duration.ofSeconds(2));
        RecordId kept = done(store, "kept", Duration.ofSeconds(3));
        advance(Duration.ofMillis(2500));

        claim(store, "next", HOUR, HOUR);

        assertThat(store.size()).isEqualTo(2);
        assertThat(store.records).doesNotContainKeys(abandoned.id(), expired);
        assertThat(store.find(kept)).isPresent();
    }

    @Test
    void resultClosestToItsExpiryGoesNext() {
        InMemoryIdempotencyStore store = store(3);
        RecordId late = done(store, "late", HOUR.multipliedBy(3));
        RecordId soon = done(store, "soon", HOUR);
        RecordId later = done(store, "later", HOUR.multipliedBy(4));

        claim(store, "next", HOUR, HOUR);

        assertThat(store.size()).isEqualTo(3);
        assertThat(store.find(soon)).isEmpty();
        assertThat(store.find(late)).isPresent();
        assertThat(store.find(later)).isPresent();
    }

    @Test
    void processingRecordsStayAndTheClaimIsRefused() {
        InMemoryIdempotencyStore store = store(2);
        RecordId leased = claim(store, "leased", HOUR, HOUR).id();
        RecordId abandoned =
                claim(store, "abandoned", Duration.ofMillis(1), HOUR).id();
        advance(Duration.ofSeconds(1));

        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> store.tryClaim(request("next", HOUR, HOUR)))
                .withMessageContaining("maximum of 2 records");

        assertThat(store.find(leased)).isPresent();
        assertThat(store.find(abandoned)).isPresent();
        assertThat(store.find(id("next"))).isEmpty();
    }

    @Test
    void knownKeysNeedNoRoom() {
        InMemoryIdempotencyStore store = store(2);
        claim(store, "leased", HOUR, HOUR);
        Lease abandoned = claim(store, "abandoned", Duration.ofMillis(1), HOUR);
        advance(Duration.ofSeconds(1));

        assertThat(store.tryClaim(request("leased", HOUR, HOUR))).isInstanceOf(ClaimResult.InProgress.class);
        assertThat(store.tryClaim(request("abandoned", HOUR, HOUR).takingOverFrom(abandoned.owner())))
                .isInstanceOf(ClaimResult.Claimed.class);
        assertThat(store.size()).isEqualTo(2);
    }

    @Test
    void resultsStayWithinTheirBytes() {
        InMemoryIdempotencyStore store = new InMemoryIdempotencyStore(nanoTime::get, clock, 1_000, 10_000);
        for (int i = 0; i < 100; i++) {
            done(store, "key-" + i, HOUR.plusSeconds(i));
        }

        assertThat(store.size()).isBetween(8, 9);
        assertThat(store.find(id("key-99"))).isPresent();
        assertThat(store.find(id("key-0"))).isEmpty();
    }

    @Test
    void latestResultIsKeptEvenIfItIsTooLargeAlone() {
        InMemoryIdempotencyStore store = new InMemoryIdempotencyStore(nanoTime::get, clock, 1_000, 100);
        RecordId first = done(store, "first", HOUR.multipliedBy(2));

        RecordId latest = done(store, "latest", HOUR);

        assertThat(store.find(first)).isEmpty();
        assertThat(store.find(latest)).isPresent();
    }

    @Test
    void expiredRecordsDoNotPileUpWithoutAPurge() {
        InMemoryIdempotencyStore store = store(1_000_000);

        for (int i = 0; i < 10_000; i++) {
            done(store, "key-" + i, Duration.ofMillis(100));
            advance(Duration.ofMillis(1));
        }

        assertThat(store.size()).isLessThan(110);
    }

    @Test
    void purgeReportsAtMostOnceRecordsThatNobodyResolved() {
        Logger logger = (Logger) LoggerFactory.getLogger(InMemoryIdempotencyStore.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        Level level = logger.getLevel();
        logger.setLevel(Level.WARN);
        InMemoryIdempotencyStore store = store(10);
        RecordId unresolved = RecordId.of("charge", "", "a-secret-key");
        Duration second = Duration.ofSeconds(1);
        store.tryClaim(new ClaimRequest(
                unresolved,
                "charge",
                Guarantee.AT_MOST_ONCE,
                new Owner(UUID.randomUUID()),
                Fingerprint.NONE,
                second,
                second,
                null));
        claim(store, "at-least-once", second, second);
        done(store, "done", second);
        advance(Duration.ofSeconds(2));

        int removed = store.purgeExpired(10);

        logger.setLevel(level);
        logger.detachAppender(log);
        assertThat(removed).isEqualTo(3);
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .singleElement()
                .satisfies(message -> assertThat(message)
                        .contains("charge", unresolved.toString())
                        .doesNotContain("secret"));
    }

    @Test
    void wallTimeIsOnlyShown() {
        InMemoryIdempotencyStore store = store(10);
        RecordId id = done(store, "key", HOUR);

        assertThat(store.find(id).orElseThrow().createdAt()).isEqualTo(MADE);
        assertThat(store.find(id).orElseThrow().completedAt()).isEqualTo(MADE);
    }

    @Test
    void originOfTheClockDoesNotMatter() {
        for (long origin : new long[] {Long.MIN_VALUE, -1, Long.MAX_VALUE - 1000}) {
            InMemoryIdempotencyStore store =
                    new InMemoryIdempotencyStore(() -> origin + nanoTime.get(), clock, 10, 10_000);
            RecordId id = done(store, "key", HOUR);
            advance(HOUR.minusSeconds(1));
            boolean before = store.find(id).isPresent();
            advance(Duration.ofSeconds(1));
            assertThat(before).isTrue();
            assertThat(store.find(id)).isEmpty();
        }
    }

    @Test
    void boundsBelowOneAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new InMemoryIdempotencyStore(nanoTime::get, clock, 0, 1))
                .withMessageContaining("0 records");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new InMemoryIdempotencyStore(nanoTime::get, clock, 1, 0))
                .withMessageContaining("0 bytes");
    }

    /** Case 27. */
    @ParameterizedTest
    @CsvSource({"1000000, PT0.1S", "200000, PT1H"})
    void manyKeysFitIntoASmallHeap(String keys, String retention) throws Exception {
        String classPath = System.getProperty("java.class.path");
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");

        Process child = new ProcessBuilder(
                        java.toString(), "-Xmx64m", "-cp", classPath, SmallHeap.class.getName(), keys, retention)
                .redirectErrorStream(true)
                .start();
        String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(child.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(child.exitValue()).as(output).isZero();
    }

    private void advance(Duration time) {
        nanoTime.addAndGet(time.toNanos());
    }

    private InMemoryIdempotencyStore store(int maximumRecords) {
        return new InMemoryIdempotencyStore(nanoTime::get, clock, maximumRecords, 100_000_000);
    }

    private static Lease claim(InMemoryIdempotencyStore store, String key, Duration lease, Duration retention) {
        ClaimResult answer = store.tryClaim(request(key, lease, retention));
        assertThat(answer).isInstanceOf(ClaimResult.Claimed.class);
        return ((ClaimResult.Claimed) answer).lease();
    }

    private static RecordId done(InMemoryIdempotencyStore store, String key, Duration retention) {
        Lease lease = claim(store, key, HOUR, retention);
        store.complete(lease, StoredResult.value("test", new byte[1_100]), retention);
        return lease.id();
    }

    private static RecordId id(String key) {
        return RecordId.of("operation", "", key);
    }

    private static ClaimRequest request(String key, Duration lease, Duration retention) {
        return new ClaimRequest(
                id(key),
                "operation",
                Guarantee.AT_LEAST_ONCE,
                new Owner(UUID.randomUUID()),
                Fingerprint.NONE,
                lease,
                retention,
                null);
    }
}
