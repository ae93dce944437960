package io.idempotency.test;

import static io.idempotency.test.ClaimRequests.LONG;
import static io.idempotency.test.ClaimRequests.SHORT;
import static io.idempotency.test.ClaimRequests.freshId;
import static io.idempotency.test.ClaimRequests.request;
import static io.idempotency.test.ClaimRequests.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.idempotency.Guarantee;
import io.idempotency.StoreUnavailableException;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.PurgeableStore;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.TransactionalStore;
import io.idempotency.spi.WriteOutcome;
import io.idempotency.support.TieredIdempotencyStore;
import io.idempotency.test.TransactionalStoreFixture.Opening;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What goes into the cache of a tiered store, what comes out of it, and what happens while it does not answer. */
class TieredStoreTests {

    private final TieredFixture fixture = new TieredFixture();
    private final TieredIdempotencyStore store = fixture.store();
    private final InMemoryResultCache cache = fixture.cache;

    @AfterEach
    void close() {
        fixture.close();
    }

    private Lease claim(RecordId id) {
        return claim(request(id));
    }

    private Lease claim(ClaimRequest request) {
        ClaimResult answer = store.tryClaim(request);
        assertThat(answer).isInstanceOf(ClaimResult.Claimed.class);
        return ((ClaimResult.Claimed) answer).lease();
    }

    private void done(RecordId id) {
        assertThat(store.complete(claim(id), result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
    }

    private void copied(RecordId id) {
        done(id);
        awaitCopy(id);
    }

    private void awaitCopy(RecordId id) {
        await().atMost(60, TimeUnit.SECONDS).until(() -> cache.hasCopyOf(id));
    }

    /** Waits until everything that was to be copied is. */
    private void settle() {
        copied(freshId());
    }

    private void assertReplays(RecordId id) {
        assertThat(store.tryClaim(request(id)))
                .isInstanceOfSatisfying(
                        ClaimResult.Done.class,
                        done -> assertThat(done.result()).isEqualTo(result("first")));
    }

    @Test
    void finishedWorkIsAnsweredWithoutTheDatabase() {
        RecordId id = freshId();
        copied(id);
        fixture.warmedUp();
        fixture.faults.before("tryClaim").fail();
        fixture.told.clear();

        assertReplays(id);

        assertThat(fixture.told).containsExactly("hit");
    }

    @Test
    void whatIsLeftOfTheRetentionComesWithTheCopy() {
        RecordId id = freshId();
        copied(id);
        fixture.warmedUp();
        ClaimResult.Done done = (ClaimResult.Done) store.tryClaim(request(id));

        assertThat(done.retentionLeft()).isEqualTo(LONG);
        assertThat(done.fingerprint()).isEqualTo(ClaimRequests.FINGERPRINT);
    }

    @Test
    void operationWithoutDuplicatesNeverAsksTheCache() {
        for (int i = 0; i < 100; i++) {
            done(freshId());
        }

        assertThat(cache.gets).hasValue(0);
        assertThat(fixture.told).hasSize(100).containsOnly("skipped");
    }

    @Test
    void duplicatesMakeItWorthAskingAndTheirAbsenceUnmakesIt() {
        RecordId id = freshId();
        copied(id);
        assertReplays(id);
        fixture.told.clear();

        claim(freshId());
        assertThat(fixture.told).containsExactly("miss");

        for (int i = 0; i < 200; i++) {
            claim(freshId());
        }
        assertThat(fixture.told).endsWith("skipped", "skipped", "skipped");
    }

    // Those that the database answers in a transaction and those that the cache answers count alike.
    @Test
    void duplicatesCountWhoeverAnswersThemAndWherever() throws Exception {
        RecordId id = freshId();
        copied(id);
        fixture.inTransaction(Opening.BY_LIBRARY, transaction -> store.claimInTransaction(request(id), false));
        fixture.told.clear();
        claim(freshId());
        assertThat(fixture.told).containsExactly("miss");

        fixture.warmedUp();
        for (int i = 0; i < 90; i++) {
            claim(freshId());
        }
        for (int i = 0; i < 20; i++) {
            assertReplays(id);
        }
        for (int i = 0; i < 60; i++) {
            claim(freshId());
        }
        fixture.told.clear();
        claim(freshId());
        assertThat(fixture.told).as("after as many hits").containsExactly("miss");
    }

    @Test
    void newWorkInTransactionsOfTheApplicationCounts() throws Exception {
        fixture.warmedUp();

        for (int i = 0; i < 200; i++) {
            fixture.inTransaction(
                    Opening.BY_APPLICATION, transaction -> store.claimInOpenTransaction(request(freshId())));
        }

        assertThat(fixture.told).endsWith("skipped", "skipped");
    }

    @Test
    void otherOperationsDoNotCount() {
        fixture.warmedUp();
        fixture.told.clear();

        store.tryClaim(new ClaimRequest(
                freshId(),
                "another-operation",
                Guarantee.AT_LEAST_ONCE,
                ClaimRequests.freshOwner(),
                ClaimRequests.FINGERPRINT,
                LONG,
                LONG,
                null));

        assertThat(fixture.told).containsExactly("skipped");
    }

    @Test
    void resultIsCopiedAfterCommitAndNotBefore() throws Exception {
        RecordId id = freshId();
        fixture.inTransaction(Opening.BY_LIBRARY, transaction -> {
            complete(id);
            settle();
            assertThat(cache.hasCopyOf(id)).isFalse();
            return true;
        });

        awaitCopy(id);
    }

    @Test
    void resultThatIsRolledBackIsNeverCopied() throws Exception {
        RecordId id = freshId();
        fixture.inTransaction(Opening.BY_APPLICATION, transaction -> {
            complete(id);
            transaction.setRollbackOnly();
            return true;
        });
        settle();

        assertThat(cache.hasCopyOf(id)).isFalse();
    }

    private void complete(RecordId id) {
        ClaimResult.Claimed claimed = (ClaimResult.Claimed) store.claimInTransaction(request(id), false);
        store.completeInTransaction(claimed.lease(), result("first"), LONG);
    }

    @Test
    void duplicateThatTheDatabaseAnswersIsCopied() throws Exception {
        RecordId id = freshId();
        copied(id);
        cache.loseEverything();
        assertReplays(id);
        awaitCopy(id);

        cache.loseEverything();
        store.find(id);
        awaitCopy(id);

        cache.loseEverything();
        fixture.inTransaction(Opening.BY_LIBRARY, transaction -> store.claimInTransaction(request(id), false));
        awaitCopy(id);
    }

    // What the application's own transaction has written it may still roll back.
    @Test
    void whatIsReadInATransactionOfTheApplicationIsNotCopied() throws Exception {
        RecordId id = freshId();
        copied(id);
        cache.loseEverything();
        fixture.inTransaction(Opening.BY_APPLICATION, transaction -> store.claimInOpenTransaction(request(id)));
        settle();

        assertThat(cache.hasCopyOf(id)).isFalse();
    }

    @Test
    void cacheAnswersInsideAndBeforeATransactionToo() throws Exception {
        RecordId id = freshId();
        copied(id);
        fixture.warmedUp();
        fixture.faults.before("claimInOpenTransaction").fail();
        fixture.faults.before("beforeTransaction").fail();

        assertThat(store.beforeTransaction(request(id), false)).get().isInstanceOf(ClaimResult.Done.class);
        assertThat(store.claimInOpenTransaction(request(id))).isInstanceOf(ClaimResult.Done.class);
    }

    @Test
    void copyLivesAsLongAsTheRetentionLessASecondAndTheTtlAtMost() {
        RecordId medium = freshId();
        store.complete(claim(medium), result("first"), Duration.ofSeconds(90));
        RecordId lasting = freshId();
        store.complete(claim(lasting), result("first"), Duration.ofDays(1));
        RecordId shortest = freshId();
        store.complete(claim(shortest), result("first"), Duration.ofSeconds(3));
        RecordId tooShort = freshId();
        store.complete(claim(tooShort), result("first"), Duration.ofMillis(2_999));
        settle();

        assertThat(cache.lifeOf(medium)).isEqualTo(Duration.ofSeconds(89));
        assertThat(cache.lifeOf(lasting)).isEqualTo(Duration.ofHours(1));
        assertThat(cache.lifeOf(shortest)).isEqualTo(Duration.ofSeconds(2));
        assertThat(cache.hasCopyOf(tooShort)).isFalse();
    }

    @Test
    void copyOfADuplicateLivesNoLongerThanItsRecord() {
        RecordId id = freshId();
        store.complete(claim(id), result("first"), Duration.ofSeconds(90));
        cacheless(id);
        fixture.advance(Duration.ofSeconds(80));

        assertReplays(id);

        awaitCopy(id);
        assertThat(cache.lifeOf(id)).isEqualTo(Duration.ofSeconds(9));
    }

    private void cacheless(RecordId id) {
        awaitCopy(id);
        cache.loseEverything();
    }

    // Case 21.
    @Test
    void onlyFinishedWorkIsKeptAndNotPastItsRecord() {
        fixture.warmedUp();
        RecordId id = freshId();
        Lease lease = claim(id);
        assertThat(store.tryClaim(request(id))).isInstanceOf(ClaimResult.InProgress.class);
        settle();
        assertThat(cache.hasCopyOf(id)).isFalse();

        store.complete(lease, result("first"), Duration.ofSeconds(10));
        assertReplays(id);
        awaitCopy(id);
        fixture.advance(Duration.ofMillis(8_900));
        assertReplays(id);
        fixture.advance(Duration.ofMillis(1_200));

        claim(id);
    }

    // The database says "done by this owner" without saying since when.
    @Test
    void completionThatIsRepeatedIsNotCopied() {
        RecordId id = freshId();
        Lease lease = claim(id);
        fixture.faults.after("complete").fail();
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> store.complete(lease, result("first"), LONG));

        assertThat(store.complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
        settle();

        assertThat(cache.hasCopyOf(id)).isFalse();
    }

    @Test
    void resultThatIsRecordedIsCopied() {
        RecordId id = freshId();
        store.recordDone(request(id), result("first"));

        awaitCopy(id);
    }

    @Test
    void lostCompletionIsNotCopied() {
        RecordId id = freshId();
        Lease lease = claim(id);
        store.release(lease);

        assertThat(store.complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.LOST);
        settle();

        assertThat(cache.hasCopyOf(id)).isFalse();
    }

    @Test
    void forgottenRecordIsGoneFromBothAndACopyOfItComesTooLate() {
        RecordId id = freshId();
        copied(id);
        fixture.warmedUp();
        ClaimResult.Done old = (ClaimResult.Done) store.tryClaim(request(id));
        var before = cache.time();

        assertThat(store.forget(id)).isTrue();

        assertThat(cache.bars).hasValue(2);
        cache.put(id, old, LONG, before);
        claim(id);
    }

    // A reader copies what it has read while the record is being forgotten.
    @Test
    void copyThatIsWrittenWhileTheRecordIsForgottenDoesNotLast() {
        RecordId id = freshId();
        copied(id);
        fixture.warmedUp();
        FaultyStore.Pause pause = fixture.faults.before("forget").pause();
        Thread operator = new Thread(() -> store.forget(id));
        operator.start();
        await().atMost(60, TimeUnit.SECONDS).until(() -> cache.bars.get() == 1);
        assertReplays(id);
        fixture.advance(Duration.ofSeconds(61));
        assertReplays(id);
        awaitCopy(id);

        pause.resume();

        await().atMost(60, TimeUnit.SECONDS).until(() -> cache.bars.get() == 2);
        assertThat(cache.isBarred(id)).isTrue();
        claim(id);
    }

    @Test
    void nothingIsForgottenWhileTheCacheDoesNotAnswer() {
        RecordId id = freshId();
        copied(id);
        cache.broken = true;

        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> store.forget(id));

        assertThat(fixture.faults.calls()).doesNotContain("forget");
        cache.broken = false;
        assertThat(store.forget(id)).isTrue();
    }

    @Test
    void resolutionBarsTheRecordBeforeAndAfter() {
        for (boolean wasDone : new boolean[] {true, false}) {
            String key = "resolved-" + wasDone;
            RecordId id = RecordId.of(ClaimRequests.OPERATION, "", key);
            claim(request(id, SHORT, LONG));
            fixture.advance(ClaimRequests.PAST_SHORT);
            int before = cache.bars.get();
            try (IdempotencyEngine engine = IdempotencyEngine.on(store).build()) {
                assertThat(
                                wasDone
                                        ? engine.admin().resolveAsDone(ClaimRequests.OPERATION, "", key)
                                        : engine.admin().resolveAsNotDone(ClaimRequests.OPERATION, "", key))
                        .isTrue();
            }

            assertThat(cache.bars.get() - before).isEqualTo(2);
            assertThat(cache.isBarred(id)).isTrue();
        }
    }

    private ClaimRequest takeoverOf(RecordId id) {
        Lease vanished = claim(request(id, SHORT, LONG));
        fixture.advance(ClaimRequests.PAST_SHORT);
        return request(id).takingOverFrom(vanished.owner());
    }

    @Test
    void takeoverInATransactionBarsTheRecordBeforeAndAfterTheCommit() throws Exception {
        RecordId id = freshId();
        ClaimRequest takeover = takeoverOf(id);

        fixture.inTransaction(Opening.BY_LIBRARY, transaction -> {
            var claimed = (ClaimResult.Claimed) store.claimInTransaction(takeover, false);
            assertThat(store.completeInTransaction(claimed.lease(), result("first"), LONG))
                    .isEqualTo(WriteOutcome.APPLIED);
            assertThat(cache.bars).hasValue(1);
            return true;
        });

        assertThat(cache.bars).hasValue(2);
        assertThat(cache.isBarred(id)).isTrue();
    }

    @Test
    void takeoverWithAKnownResultBarsTheRecordBeforeAndAfterTheCommit() throws Exception {
        for (Opening opening : Opening.values()) {
            RecordId id = freshId();
            ClaimRequest takeover = takeoverOf(id);
            int before = cache.bars.get();

            ClaimResult answer = fixture.inTransaction(opening, transaction -> {
                ClaimResult found = opening == Opening.BY_APPLICATION
                        ? store.recordDoneInOpenTransaction(takeover, result("first"))
                        : store.recordDoneInTransaction(
                                takeover, result("first"), opening == Opening.BY_LIBRARY_SERIALIZABLE);
                assertThat(cache.bars.get()).as("bars before the commit").isGreaterThan(before);
                cache.loseEverything();
                return found;
            });

            assertThat(answer).isInstanceOf(ClaimResult.Claimed.class);
            assertThat(cache.isBarred(id)).as("after the commit").isTrue();
        }
    }

    @Test
    void takeoverThatIsRolledBackOrTooLateBarsNothingAfterwards() throws Exception {
        ClaimRequest rolledBack = takeoverOf(freshId());
        fixture.inTransaction(Opening.BY_LIBRARY, transaction -> {
            store.recordDoneInTransaction(rolledBack, result("first"), false);
            transaction.setRollbackOnly();
            cache.loseEverything();
            return true;
        });
        assertThat(cache.isBarred(rolledBack.id())).isFalse();

        RecordId id = freshId();
        ClaimRequest late = takeoverOf(id);
        store.recordDone(request(id).takingOverFrom(late.takeOverFrom()), result("first"));
        ClaimResult answer = fixture.inTransaction(Opening.BY_LIBRARY, transaction -> {
            ClaimResult found = store.recordDoneInTransaction(late, result("second"), false);
            cache.loseEverything();
            return found;
        });
        assertThat(answer).isInstanceOf(ClaimResult.Done.class);
        assertThat(cache.isBarred(id)).isFalse();
    }

    @Test
    void resultOfATransactionOfTheApplicationIsReadAgainBeforeItIsCopied() throws Exception {
        RecordId id = freshId();
        fixture.inTransaction(Opening.BY_APPLICATION, transaction -> {
            var claimed = (ClaimResult.Claimed) store.claimInOpenTransaction(request(id));
            store.completeInTransaction(claimed.lease(), result("first"), LONG);
            fixture.faults.reset();
            return true;
        });
        awaitCopy(id);

        assertThat(fixture.faults.calls()).containsExactly("find");
    }

    @Test
    void rollbackIsTheBusinessOfTheDatabase() {
        store.afterRollback(new Lease(request(freshId()), 1));

        assertThat(fixture.faults.calls()).containsExactly("afterRollback");
    }

    @Test
    void copiesThatWaitAreNotWrittenAfterTheClose() {
        RecordId first = freshId();
        RecordId second = freshId();
        CountDownLatch silence = new CountDownLatch(1);
        cache.silence = silence;
        done(first);
        await().atMost(60, TimeUnit.SECONDS).until(() -> cache.puts.get() == 1);
        done(second);

        store.close();
        silence.countDown();

        awaitCopy(first);
        done(freshId());
        assertThat(cache.puts).hasValue(1);
    }

    @Test
    void ordinaryReleaseCostsTheCacheNothing() {
        store.release(claim(freshId()));

        assertThat(cache.bars).hasValue(0);
    }

    @Test
    void brokenCacheIsLeftAloneAndComesBack() {
        RecordId id = freshId();
        copied(id);
        fixture.warmedUp();
        cache.broken = true;
        cache.gets.set(0);

        for (int i = 0; i < 50; i++) {
            assertReplays(id);
            claim(freshId());
        }

        assertThat(cache.gets.get()).isLessThan(10);
        assertThat(store.cacheAnswers()).isFalse();
        cache.broken = false;
        await().atMost(60, TimeUnit.SECONDS).until(store::cacheAnswers);
        fixture.told.clear();
        assertReplays(id);
        assertThat(fixture.told).containsExactly("hit");
    }

    @Test
    void silentCacheStopsACallOnceAndForAMoment() {
        try (TieredFixture impatient = new TieredFixture(Duration.ofMillis(50))) {
            RecordId id = freshId();
            impatient.store().recordDone(request(id), result("first"));
            impatient.warmedUp();
            impatient.cache.silence = new CountDownLatch(1);
            impatient.told.clear();
            impatient.cache.gets.set(0);

            for (int i = 0; i < 20; i++) {
                assertThat(impatient.store().tryClaim(request(id))).isInstanceOf(ClaimResult.Done.class);
                assertThat(impatient.store().tryClaim(request(freshId()))).isInstanceOf(ClaimResult.Claimed.class);
            }

            assertThat(impatient.told).hasSize(40).containsOnly("unavailable");
            assertThat(impatient.cache.gets.get()).isLessThan(20);
            impatient.cache.silence.countDown();
        }
    }

    @Test
    void interruptedCallerAsksTheDatabaseAndStaysInterrupted() {
        RecordId id = freshId();
        copied(id);
        fixture.warmedUp();
        Thread.currentThread().interrupt();
        boolean interrupted;
        try {
            assertReplays(id);
        } finally {
            interrupted = Thread.interrupted();
        }

        assertThat(interrupted).isTrue();
        assertThat(store.cacheAnswers()).isTrue();
    }

    @Test
    void ttlBelowTwoSecondsAndNoPatienceAreRefused() {
        TieredIdempotencyStore.Builder builder = TieredIdempotencyStore.builder(fixture.database, cache);
        assertThatIllegalArgumentException().isThrownBy(() -> builder.cacheTtl(Duration.ofMillis(1_999)));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.patience(Duration.ofNanos(999_999)));

        assertThat(builder.cacheTtl(Duration.ofSeconds(2))
                        .patience(Duration.ofMillis(1))
                        .build())
                .satisfies(built -> {
                    assertThat(built.database()).isSameAs(fixture.database);
                    assertThat(built.cache()).isSameAs(cache);
                });
    }

    @Test
    void lagOfThePurgeIsThatOfTheDatabase() {
        TransactionalStore late = (TransactionalStore) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {TransactionalStore.class, PurgeableStore.class},
                (proxy, method, arguments) -> method.getName().equals("purgeLag") ? LONG : "late");

        assertThat(TieredIdempotencyStore.builder(late, cache).build().purgeLag())
                .isEqualTo(LONG);
        assertThat(store.purgeLag()).isZero();
    }

    @Test
    void nameSaysBoth() {
        assertThat(store.name()).isEqualTo("tiered(in-memory, in-memory transactions)");
    }
}
