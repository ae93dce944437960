package io.idempotency.test;

import static io.idempotency.test.ClaimRequests.FINGERPRINT;
import static io.idempotency.test.ClaimRequests.LONG;
import static io.idempotency.test.ClaimRequests.freshId;
import static io.idempotency.test.ClaimRequests.request;
import static io.idempotency.test.ClaimRequests.result;
import static io.idempotency.test.Race.answerOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.PurgeableStore;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionConflictException;
import io.idempotency.spi.TransactionalStore;
import io.idempotency.spi.WriteOutcome;
import io.idempotency.test.TransactionalStoreFixture.Opening;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/**
 * Many threads do everything that goes wrong, at random, on few keys; a ledger outside of the store proves that its promises held.
 *
 * <p>The seed is reported and part of every failure; {@code -Didempotency.fuzz.seed} sets it. It repeats what each thread wants to
 * do, not how the threads meet.
 *
 * @since 0.1.0
 */
public abstract class StoreFuzzContract {

    private static final int ROUNDS = 2;

    private static final int THREADS = 8;

    private static final int KEYS = 20;

    private static final int STEPS = 60;

    private static final Duration LEASE = Duration.ofMillis(50);

    private static final Duration PAST_LEASE = Duration.ofMillis(60);

    private final long seed = Long.getLong("idempotency.fuzz.seed", System.nanoTime());

    private @Nullable StoreFixture current;

    /** Called before each fact. A {@link TransactionalStoreFixture} gets the facts about transactions too. */
    protected abstract StoreFixture createFixture();

    @BeforeEach
    void openFixture(TestReporter reporter) {
        reporter.publishEntry("seed", Long.toString(seed));
        current = createFixture();
    }

    @AfterEach
    void closeFixture() {
        fixture().close();
    }

    @Test
    void keyIsCompletedOnceAndReplaysThatWhateverItsOwnersDo() {
        for (int round = 0; round < ROUNDS; round++) {
            List<Ledger> ledgers = Stream.generate(Ledger::new).limit(KEYS).toList();
            Random seeds = new Random(seed + round);
            List<Random> randoms = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                randoms.add(new Random(seeds.nextLong()));
            }

            Race.of(THREADS, index -> {
                Random random = randoms.get(index);
                for (int step = 0; step < STEPS; step++) {
                    attemptWithLease(node(index), ledgers.get(keyAt(step, random)), random);
                }
                return true;
            });

            ledgers.forEach(this::drainWithLease);
            ledgers.forEach(ledger -> ledger.check(seed));
        }
    }

    /** Only for a {@link TransactionalStoreFixture}. */
    @Test
    void keyHasOneCommittedEffectWhateverItsTransactionsDo() {
        assumeTrue(fixture() instanceof TransactionalStoreFixture, "The store takes part in no transactions");
        TransactionalStoreFixture fixture = (TransactionalStoreFixture) fixture();
        for (int round = 0; round < ROUNDS; round++) {
            List<RecordId> ids =
                    Stream.generate(ClaimRequests::freshId).limit(KEYS).toList();
            String prefix = UUID.randomUUID().toString();
            Random seeds = new Random(seed + round);
            List<Random> randoms = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                randoms.add(new Random(seeds.nextLong()));
            }

            Race.of(THREADS, index -> {
                Random random = randoms.get(index);
                for (int step = 0; step < STEPS; step++) {
                    int key = keyAt(step, random);
                    attemptInTransaction(fixture, ids.get(key), prefix + key, random);
                }
                return true;
            });

            for (int key = 0; key < KEYS; key++) {
                String row = prefix + key;
                IdempotencyRecord record = drainInTransactions(fixture, ids.get(key), row);
                long expected = Objects.equals(record.result(), result(row)) ? 1 : 0;
                assertThat(fixture.businessRows(row)).as("seed " + seed).isEqualTo(expected);
            }
        }
    }

    // All threads go through the keys in the same order, so that they meet on keys that are not done yet.
    private static int keyAt(int step, Random random) {
        return (step * KEYS / STEPS + random.nextInt(3)) % KEYS;
    }

    private StoreFixture fixture() {
        if (current == null) {
            throw new IllegalStateException("No fixture before the first fact");
        }
        return current;
    }

    private IdempotencyStore node(int index) {
        return index % 2 == 0 ? fixture().store() : fixture().otherNode();
    }

    private void attemptWithLease(IdempotencyStore store, Ledger ledger, Random random) {
        ClaimRequest request = request(ledger.id, Guarantee.AT_LEAST_ONCE, FINGERPRINT, LEASE, LONG);
        Optional<Owner> stale = ledger.anyOwner(random);
        if (stale.isPresent() && random.nextInt(10) == 0) {
            request = request.takingOverFrom(stale.get());
        }
        if (random.nextInt(30) == 0) {
            ledger.answered(request, store.recordDone(request, resultOf(request)), true);
            return;
        }
        if (random.nextInt(30) == 0 && store instanceof PurgeableStore purgeable) {
            purgeable.purgeExpired(10);
        }
        ClaimResult answer = store.tryClaim(request);
        ledger.answered(request, answer, false);
        if (answer instanceof ClaimResult.Abandoned abandoned && random.nextInt(5) > 0) {
            request = request.takingOverFrom(abandoned.owner());
            answer = store.tryClaim(request);
            ledger.answered(request, answer, false);
        }
        if (answer instanceof ClaimResult.Claimed claimed) {
            work(store, claimed.lease(), ledger, random);
        }
    }

    private void work(IdempotencyStore store, Lease lease, Ledger ledger, Random random) {
        switch (random.nextInt(10)) {
            case 0, 1 -> {
                // Died.
            }
            case 2 -> ledger.released(lease, answerOf(() -> store.release(lease)));
            case 3 -> {
                letOthersGoOnPast(fixture(), PAST_LEASE);
                ledger.released(lease, answerOf(() -> store.release(lease)));
            }
            case 4, 5 -> {
                letOthersGoOnPast(fixture(), PAST_LEASE);
                ledger.completed(lease, answerOf(() -> store.complete(lease, resultOf(lease.request()), LONG)));
            }
            case 6 -> {
                letOthersGoOnPast(fixture(), LEASE.dividedBy(2));
                boolean held = answerOf(() -> store.renew(lease)) == WriteOutcome.APPLIED;
                letOthersGoOnPast(fixture(), LEASE.dividedBy(2));
                ledger.renewed(lease, held);
                ledger.completed(lease, answerOf(() -> store.complete(lease, resultOf(lease.request()), LONG)));
            }
            case 7 -> {
                ledger.completed(lease, answerOf(() -> store.complete(lease, resultOf(lease.request()), LONG)));
                ledger.completed(
                        lease, answerOf(() -> store.complete(lease, result("sent again, and different"), LONG)));
                ledger.released(lease, answerOf(() -> store.release(lease)));
            }
            case 8 -> {
                ledger.released(lease, answerOf(() -> store.release(lease)));
                ledger.completed(lease, answerOf(() -> store.complete(lease, resultOf(lease.request()), LONG)));
            }
            default -> ledger.completed(lease, answerOf(() -> store.complete(lease, resultOf(lease.request()), LONG)));
        }
    }

    // Where the clock is only moved, nobody would come by in the meantime.
    private static void letOthersGoOnPast(StoreFixture fixture, Duration time) {
        fixture.advance(time);
        LockSupport.parkNanos(1_000_000);
    }

    private void drainWithLease(Ledger ledger) {
        IdempotencyStore store = fixture().store();
        ClaimRequest request = request(ledger.id);
        for (int i = 0; i < 100; i++) {
            ClaimResult answer = store.tryClaim(request);
            ledger.answered(request, answer, false);
            if (answer instanceof ClaimResult.Done) {
                return;
            }
            if (answer instanceof ClaimResult.Claimed claimed) {
                Lease lease = claimed.lease();
                ledger.completed(lease, answerOf(() -> store.complete(lease, resultOf(lease.request()), LONG)));
                request = request(ledger.id);
            } else if (answer instanceof ClaimResult.Abandoned abandoned) {
                request = request.takingOverFrom(abandoned.owner());
            } else {
                fixture().advance(PAST_LEASE);
            }
        }
        throw new AssertionError("The key did not become done; seed " + seed);
    }

    private static StoredResult resultOf(ClaimRequest request) {
        return result(request.owner().value().toString());
    }

    private static void attemptInTransaction(
            TransactionalStoreFixture fixture, RecordId id, String row, Random random) {
        TransactionalStore store = fixture.store();
        switch (random.nextInt(8)) {
            case 0 -> {
                ClaimRequest request = request(id, Guarantee.AT_LEAST_ONCE, FINGERPRINT, LEASE, LONG);
                ClaimResult answer = store.tryClaim(request);
                if (answer instanceof ClaimResult.Claimed claimed && random.nextBoolean()) {
                    answerOf(() -> store.release(claimed.lease()));
                }
            }
            case 1 -> {
                if (random.nextInt(8) == 0) {
                    store.recordDone(request(id), result("without an effect"));
                } else if (store instanceof PurgeableStore purgeable) {
                    purgeable.purgeExpired(10);
                }
            }
            case 2, 3 -> execute(fixture, id, row, Opening.BY_APPLICATION, random);
            default -> execute(fixture, id, row, Opening.BY_LIBRARY, random);
        }
    }

    private static void execute(
            TransactionalStoreFixture fixture, RecordId id, String row, Opening opening, @Nullable Random random) {
        TransactionalStore store = fixture.store();
        ClaimRequest request = request(id, Guarantee.EXACTLY_ONCE, FINGERPRINT, LONG, LONG);
        boolean known = random != null && random.nextBoolean();
        Lease[] claimedLease = new Lease[1];
        try {
            if (opening == Opening.BY_LIBRARY) {
                Optional<ClaimResult> early = store.beforeTransaction(request, false);
                if (early.isPresent() && !(early.get() instanceof ClaimResult.Abandoned)) {
                    return;
                }
            }
            fixture.inTransaction(opening, transaction -> {
                ClaimResult answer = claim(store, request, opening, known ? result(row) : null);
                if (answer instanceof ClaimResult.Abandoned abandoned) {
                    answer = claim(
                            store, request.takingOverFrom(abandoned.owner()), opening, known ? result(row) : null);
                }
                if (!(answer instanceof ClaimResult.Claimed claimed)) {
                    return false;
                }
                claimedLease[0] = claimed.lease();
                dieOneTimeIn(8, random);
                fixture.addBusinessRow(row);
                dieOneTimeIn(8, random);
                if (random != null && random.nextInt(2) == 0) {
                    letOthersGoOnPast(fixture, Duration.ofMillis(random.nextInt(20)));
                }
                if (!known && store.completeInTransaction(claimed.lease(), result(row), LONG) == WriteOutcome.LOST) {
                    transaction.setRollbackOnly();
                    return false;
                }
                dieOneTimeIn(8, random);
                if (random != null && random.nextInt(8) == 0) {
                    transaction.setRollbackOnly();
                }
                return true;
            });
        } catch (Died | TransactionConflictException e) {
            if (claimedLease[0] != null && random != null && random.nextBoolean()) {
                store.afterRollback(claimedLease[0]);
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError("The transaction failed: " + e, e);
        }
    }

    private static ClaimResult claim(
            TransactionalStore store, ClaimRequest request, Opening opening, @Nullable StoredResult known) {
        if (known != null) {
            return opening == Opening.BY_LIBRARY
                    ? store.recordDoneInTransaction(request, known, false)
                    : store.recordDoneInOpenTransaction(request, known);
        }
        return opening == Opening.BY_LIBRARY
                ? store.claimInTransaction(request, false)
                : store.claimInOpenTransaction(request);
    }

    private static void dieOneTimeIn(int times, @Nullable Random random) {
        if (random != null && random.nextInt(times) == 0) {
            throw new Died();
        }
    }

    private IdempotencyRecord drainInTransactions(TransactionalStoreFixture fixture, RecordId id, String row) {
        for (int i = 0; i < 100; i++) {
            Optional<IdempotencyRecord> record = fixture.store().find(id);
            if (record.isPresent() && record.get().done()) {
                return record.get();
            }
            fixture.advance(Duration.ofMillis(i == 0 ? 0 : 20));
            execute(fixture, id, row, Opening.BY_LIBRARY, null);
        }
        throw new AssertionError("The key did not become done; seed " + seed);
    }

    /** The end of an attempt that tells nobody. */
    private static final class Died extends RuntimeException {

        private static final long serialVersionUID = 1L;

        Died() {
            super("died", null, false, false);
        }
    }

    /** What the threads were told about one key. */
    private static final class Ledger {

        private final RecordId id = freshId();
        private final Map<Owner, Lease> claims = new ConcurrentHashMap<>();
        private final Map<Owner, Owner> takeovers = new ConcurrentHashMap<>();
        private final Map<Owner, Boolean> completions = new ConcurrentHashMap<>();
        private final Map<Owner, Boolean> releases = new ConcurrentHashMap<>();
        private final Map<Owner, String> replays = new ConcurrentHashMap<>();
        private final List<String> violations = new ArrayList<>();

        Optional<Owner> anyOwner(Random random) {
            List<Owner> owners = List.copyOf(claims.keySet());
            return owners.isEmpty() ? Optional.empty() : Optional.of(owners.get(random.nextInt(owners.size())));
        }

        void answered(ClaimRequest request, ClaimResult answer, boolean doneAtOnce) {
            if (answer instanceof ClaimResult.Claimed claimed) {
                claims.put(request.owner(), claimed.lease());
                Owner seen = request.takeOverFrom();
                if (claimed.takeover() && seen != null && takeovers.put(seen, request.owner()) != null) {
                    violation("an owner was taken over twice");
                }
                if (claimed.takeover() && seen == null) {
                    violation("a takeover without a name");
                }
                if (!claimed.takeover() && claimed.lease().token() != 1) {
                    violation("a fresh claim with token " + claimed.lease().token());
                }
                if (doneAtOnce) {
                    completions.put(request.owner(), true);
                }
            } else if (answer instanceof ClaimResult.Done done) {
                String text = new String(done.result().payload(), StandardCharsets.UTF_8);
                replays.put(done.owner(), text);
                if (!text.equals(done.owner().value().toString())) {
                    violation("a replay that its owner did not store first");
                }
            } else if (!(answer instanceof ClaimResult.InProgress || answer instanceof ClaimResult.Abandoned)) {
                violation("an answer of the wrong kind: " + answer);
            }
        }

        void completed(Lease lease, WriteOutcome outcome) {
            if (outcome == WriteOutcome.APPLIED) {
                completions.put(lease.owner(), true);
            }
        }

        void released(Lease lease, WriteOutcome outcome) {
            if (outcome == WriteOutcome.APPLIED) {
                releases.put(lease.owner(), true);
            }
        }

        void renewed(Lease lease, boolean held) {
            if (held && releases.containsKey(lease.owner())) {
                violation("a renewal after the release of the same owner");
            }
        }

        private synchronized void violation(String what) {
            violations.add(what);
        }

        /** All threads are gone. */
        synchronized void check(long seed) {
            String context = "seed " + seed;
            assertThat(violations).as(context).isEmpty();
            assertThat(completions.keySet())
                    .as("owners that completed, " + context)
                    .hasSize(1);
            assertThat(replays.keySet())
                    .as("owners whose result was replayed, " + context)
                    .isEqualTo(completions.keySet());
            assertThat(takeovers.keySet())
                    .as("owners that were taken over did nothing more, " + context)
                    .noneMatch(completions::containsKey)
                    .noneMatch(releases::containsKey);
            assertThat(releases.keySet())
                    .as("owners that released did nothing more, " + context)
                    .noneMatch(completions::containsKey);
            takeovers.forEach((seen, next) -> assertThat(tokenOf(next))
                    .as("token after a takeover, " + context)
                    .isEqualTo(tokenOf(seen) + 1));
            long lives =
                    claims.values().stream().filter(lease -> lease.token() == 1).count();
            assertThat(lives)
                    .as("every life but the last ended in a release, " + context)
                    .isEqualTo(releases.size() + 1L);
        }

        private long tokenOf(Owner owner) {
            Lease lease = claims.get(owner);
            if (lease == null) {
                throw new AssertionError("An owner was seen that never got a claim");
            }
            return lease.token();
        }
    }
}
