package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import io.idempotency.KeyReusedException;
import io.idempotency.OperationInProgressException;
import io.idempotency.OutcomeUnknownException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.CommitFailedException;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionConflictException;
import io.idempotency.spi.TransactionalStore.CommitProbe;
import io.idempotency.spi.WriteOutcome;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Work that learns its key on the way, in a transaction that is there before the key is. */
class LateCallsTests extends TransactionalTests {

    private static final Completion UNDONE = new Completion.Executed(false, true);

    private final StoreUnavailableException silent = new StoreUnavailableException("silent", null);
    private final TransactionConflictException conflict =
            new TransactionConflictException("deadlock", new IllegalStateException());
    private final IllegalStateException failure = new IllegalStateException("no");

    private Completion late(LateWork work) throws Throwable {
        return late(settings().build(), work);
    }

    private Completion late(OperationSettings settings, LateWork work) throws Throwable {
        return node.engine.executeLate(settings, work);
    }

    /** Claims its key, then works, if it may. */
    private LateWork paying(Node.TextWork work) {
        return paying(settings().build(), work);
    }

    private static LateWork paying(OperationSettings settings, Node.TextWork work) {
        return claim -> {
            Attempt attempt = claim.of(Node.call(settings, "k", "10 EUR"));
            return attempt == null ? new Finish.Release() : new Finish.Store(Node.result(work.run(attempt)), false);
        };
    }

    private String work(Attempt attempt) {
        store.calls.add("work");
        return "paid";
    }

    private String failingWork(Attempt attempt) {
        store.calls.add("work");
        throw failure;
    }

    @Test
    void claimsWorksAndCompletesInTheTransactionThatWasThere() throws Throwable {
        assertThat(late(paying(this::work))).isEqualTo(new Completion.Executed(true, false));

        assertThat(store.calls).containsExactly("begin", "claim in open", "work", "complete", "commit");
        assertThat(store.written).extracting(Node::text).containsExactly("paid");
        assertThat(node.outcomes).containsExactly("executed");
    }

    @Test
    void bindsTheContextFromTheClaimToTheEndOfTheWork() throws Throwable {
        late(claim -> {
            assertThat(IdempotencyContext.current()).isEmpty();
            Finish finish = paying(attempt -> {
                        assertThat(IdempotencyContext.current()).contains(attempt.context());
                        assertThat(attempt.transactional()).isTrue();
                        return "paid";
                    })
                    .run(claim);
            assertThat(IdempotencyContext.current()).isPresent();
            return finish;
        });

        assertThat(IdempotencyContext.current()).isEmpty();
    }

    @Test
    void unbindsTheContextWhenTheWorkThrows() {
        assertThatThrownBy(() -> late(paying(this::failingWork))).isSameAs(failure);

        assertThat(IdempotencyContext.current()).isEmpty();
    }

    @Test
    void letsTheSameKeyJoinWhileItRuns() throws Throwable {
        late(paying(outer -> {
            node.engine.execute(Node.call(settings().build(), "k", "10 EUR"), inner -> {
                assertThat(inner).isSameAs(outer);
                return new Finish.Store(Node.result("inner"), false);
            });
            return "outer";
        }));

        assertThat(store.written).extracting(Node::text).containsExactly("outer");
    }

    @Test
    void claimsOneKeyAndNoOther() {
        assertThatThrownBy(() -> late(claim -> {
                    paying(this::work).run(claim);
                    return paying(this::work).run(claim);
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Only one key")
                .hasMessageContaining("pay");
        assertThat(store.calls).endsWith("rollback", "after rollback");
    }

    @Test
    void claimsNothingAfterItsTransaction() throws Throwable {
        AtomicReference<LateWork.Claim> kept = new AtomicReference<>();
        late(claim -> {
            kept.set(claim);
            return paying(this::work).run(claim);
        });

        assertThatThrownBy(() -> paying(this::work).run(kept.get())).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void isForTransactionsOnly() {
        OperationSettings leased =
                OperationSettings.of("pay", Guarantee.AT_LEAST_ONCE).build();

        assertThatThrownBy(() -> late(leased, paying(this::work)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("AT_LEAST_ONCE");
        assertThat(store.calls).isEmpty();
    }

    @Nested
    class WithoutAKey {

        @Test
        void theTransactionCommitsAndThereWasNoCall() throws Throwable {
            assertThat(late(claim -> new Finish.Store(Node.result("nothing"), false)))
                    .isEqualTo(new Completion.Executed(false, false));

            assertThat(store.calls).containsExactly("begin", "commit");
            assertThat(node.outcomes).isEmpty();
        }

        @Test
        void whatIsNotToBeStoredIsUndone() throws Throwable {
            assertThat(late(claim -> new Finish.Release())).isEqualTo(UNDONE);

            assertThat(store.calls).containsExactly("begin", "rollback");
        }

        @Test
        void aTransactionThatCanOnlyBeRolledBackIsSaidToBe() throws Throwable {
            assertThat(late(claim -> {
                        transactions.setRollbackOnly();
                        return new Finish.Store(Node.result("nothing"), false);
                    }))
                    .isEqualTo(UNDONE);
        }

        @Test
        void failuresPassUnchanged() {
            assertThatThrownBy(() -> late(claim -> {
                        throw failure;
                    }))
                    .isSameAs(failure)
                    .hasNoSuppressedExceptions();

            assertThat(store.calls).containsExactly("begin", "rollback");
            assertThat(node.outcomes).isEmpty();
        }

        @Test
        void aFailedCommitIsTheFailureUnderIt() {
            transactions.commitFails = new CommitFailedException(CommitFailedException.Kind.UNKNOWN, failure);

            assertThatThrownBy(() -> late(claim -> new Finish.Store(Node.result("nothing"), false)))
                    .isSameAs(failure);
        }

        @Test
        void aConflictPassesUnchanged() {
            transactions.beginFails = conflict;

            assertThatThrownBy(() -> late(paying(this::never))).isSameAs(conflict);
        }

        @Test
        void aSilentDatabaseRefusesTheCall() {
            transactions.beginFails = silent;

            assertThatThrownBy(() -> late(paying(this::never))).isSameAs(silent);
        }

        @Test
        void aSilentDatabaseLetsTheWorkRunUnprotectedWhereThatIsWanted() throws Throwable {
            transactions.beginFails = silent;
            OperationSettings proceeding =
                    settings().proceedOnStoreFailure(true).build();

            assertThat(late(proceeding, paying(proceeding, attempt -> {
                        assertThat(attempt.context()).isNull();
                        return work(attempt);
                    })))
                    .isEqualTo(new Completion.Executed(false, false));

            assertThat(store.calls).containsExactly("begin", "work");
            assertThat(node.outcomes).containsExactly("unprotected");
        }

        private String never(Attempt attempt) {
            throw new AssertionError("ran");
        }
    }

    @Nested
    class ARecordInTheWay {

        private void assertRefused(Class<? extends Throwable> refusal, String outcome) {
            assertThatThrownBy(() -> late(paying(LateCallsTests.this::work))).isInstanceOf(refusal);
            assertThat(store.calls).doesNotContain("work").contains("rollback");
            assertThat(node.outcomes).containsExactly(outcome);
        }

        @Test
        void thatIsDoneUndoesWhatWasThereAndIsTheAnswer() throws Throwable {
            store.answer("claim in open", done("10 EUR"));

            assertIsOfAnother(late(paying(LateCallsTests.this::work)));

            assertThat(store.calls).containsExactly("begin", "claim in open", "rollback");
            assertThat(node.outcomes).containsExactly("replayed");
        }

        @Test
        void ofAnotherPayloadIsRefused() {
            store.answer("claim in open", done("11 EUR"));

            assertRefused(KeyReusedException.class, "key_reused");
        }

        @Test
        void thatRunsIsInProgress() {
            store.answer("claim in open", new ClaimResult.InProgress(Fingerprint.NONE, null));

            assertRefused(OperationInProgressException.class, "in_progress");
        }

        @Test
        void thatIsLeasedTellsWhenToRetry() {
            store.answer("claim in open", new ClaimResult.InProgress(Fingerprint.NONE, Duration.ofMillis(7)));

            assertThatThrownBy(() -> late(paying(LateCallsTests.this::work)))
                    .isInstanceOfSatisfying(
                            OperationInProgressException.class,
                            busy -> assertThat(busy.retryAfter()).isEqualTo(Duration.ofMillis(7)));
        }

        @Test
        void marksTheTransactionBeforeTheWorkGoesOn() throws Throwable {
            store.answer("claim in open", done("10 EUR"));

            assertIsOfAnother(late(claim -> {
                assertThat(claim.of(Node.call(settings().build(), "k", "10 EUR")))
                        .isNull();
                assertThat(transactions.isRollbackOnly()).isTrue();
                return new Finish.Release();
            }));
        }

        @Test
        void thatRunsIsWaitedForAfterTheRollback() throws Throwable {
            store.answer("claim in open", new ClaimResult.InProgress(Fingerprint.NONE, null));
            store.answer("find", Optional.empty(), doneRecord());
            OperationSettings waiting =
                    settings().waitAtMost(Duration.ofSeconds(1)).build();

            assertIsOfAnother(late(waiting, paying(waiting, LateCallsTests.this::work)));

            assertThat(store.calls).containsExactly("begin", "claim in open", "rollback", "find", "find");
        }

        @Test
        void thatIsGoneAfterTheWaitIsInProgressBecauseTheWorkCannotBeginAgain() {
            store.answer("claim in open", new ClaimResult.InProgress(Fingerprint.NONE, null));
            OperationSettings waiting =
                    settings().waitAtMost(Duration.ofSeconds(1)).build();

            assertThatThrownBy(() -> late(waiting, paying(waiting, LateCallsTests.this::work)))
                    .isInstanceOf(OperationInProgressException.class);
            assertThat(store.calls).doesNotContain("work");
        }

        @Test
        void thatNobodyCouldReadIsLookedAtAfterTheRollback() throws Throwable {
            store.answer("claim in open", new ClaimResult.Contended());
            store.answer("find", doneRecord());

            assertIsOfAnother(late(paying(LateCallsTests.this::work)));

            assertThat(store.calls).containsExactly("begin", "claim in open", "rollback", "find");
        }

        @Test
        void thatIsGoneWhenLookedAtIsInProgress() {
            store.answer("claim in open", new ClaimResult.Contended());

            assertRefused(OperationInProgressException.class, "in_progress");
        }

        @Test
        void whoseLockEndedTheTransactionIsLookedAt() throws Throwable {
            store.fail("claim in open", conflict);
            store.answer("find", doneRecord());

            assertIsOfAnother(late(paying(LateCallsTests.this::work)));
        }

        @Test
        void thatVanishedIsTakenOver() throws Throwable {
            store.answer(
                    "claim in open",
                    new ClaimResult.Abandoned(fingerprint("10 EUR"), ANOTHER, Guarantee.AT_LEAST_ONCE));

            late(paying(attempt -> {
                assertThat(attempt.context()).isNotNull();
                assertThat(attempt.context().takeover()).isTrue();
                return "paid";
            }));

            assertThat(store.calls).containsExactly("begin", "claim in open", "claim in open", "complete", "commit");
            assertThat(node.events).containsExactly("takeover 2");
        }

        @Test
        void thatVanishedUnderAtMostOnceLeavesTheOutcomeUnknown() {
            store.answer(
                    "claim in open", new ClaimResult.Abandoned(fingerprint("10 EUR"), ANOTHER, Guarantee.AT_MOST_ONCE));

            assertRefused(OutcomeUnknownException.class, "outcome_unknown");
        }

        @Test
        void ofASilentStoreRefusesTheCallAlsoWhereItProceeds() {
            store.fail("claim in open", silent);
            OperationSettings proceeding =
                    settings().proceedOnStoreFailure(true).build();

            assertThatThrownBy(() -> late(proceeding, paying(proceeding, LateCallsTests.this::work)))
                    .isSameAs(silent);

            assertThat(store.calls).containsExactly("begin", "claim in open", "rollback");
            assertThat(node.outcomes).containsExactly("store_unavailable");
        }

        @Test
        void foundAtTheCompletionRollsTheWorkBackAndIsTheAnswer() throws Throwable {
            store.answer("complete", WriteOutcome.LOST);
            store.answer("find", doneRecord());

            assertIsOfAnother(late(paying(LateCallsTests.this::work)));

            assertThat(store.calls)
                    .containsExactly(
                            "begin", "claim in open", "work", "complete", "rollback", "after rollback", "find");
            assertThat(node.events).containsExactly("conflict");
        }

        @Test
        void foundAtTheCompletionIsNotWaitedFor() {
            store.answer("complete", WriteOutcome.LOST);
            OperationSettings waiting =
                    settings().waitAtMost(Duration.ofSeconds(1)).build();

            assertThatThrownBy(() -> late(waiting, paying(waiting, LateCallsTests.this::work)))
                    .isInstanceOf(OperationInProgressException.class);
            assertThat(store.calls).containsOnlyOnce("find");
        }
    }

    @Nested
    class TheEnd {

        @Test
        void ofWorkThatFailedIsARollbackAndTheFailureUnchanged() {
            assertThatThrownBy(() -> late(paying(LateCallsTests.this::failingWork)))
                    .isSameAs(failure)
                    .hasNoSuppressedExceptions();

            assertThat(store.calls).containsExactly("begin", "claim in open", "work", "rollback", "after rollback");
            assertThat(node.outcomes).containsExactly("failed");
        }

        @Test
        void ofWorkWhoseFailureCommitsIsTheFailureStored() {
            transactions.commitsOn = IllegalStateException.class;

            assertThatThrownBy(() -> late(paying(LateCallsTests.this::failingWork)))
                    .isSameAs(failure);

            assertThat(store.calls).containsExactly("begin", "claim in open", "work", "complete", "commit");
            assertThat(store.written).extracting(StoredResult::kind).containsExactly(StoredResult.Kind.FAILURE);
        }

        @Test
        void ofWorkWhoseFailureIsFinalIsStoredAfterTheRollback() {
            OperationSettings storing = settings()
                    .outcomePolicy(new DefaultOutcomePolicy(List.of(IllegalStateException.class), List.of()))
                    .build();

            assertThatThrownBy(() -> late(storing, paying(storing, LateCallsTests.this::failingWork)))
                    .isSameAs(failure);

            assertThat(store.calls)
                    .containsExactly("begin", "claim in open", "work", "rollback", "after rollback", "record done");
        }

        @Test
        void ofARefusalThatStandsIsStoredAfterTheRollback() throws Throwable {
            assertThat(late(claim -> {
                        claim.of(Node.call(settings().build(), "k", "10 EUR"));
                        transactions.setRollbackOnly();
                        return new Finish.Store(Node.result("402"), true);
                    }))
                    .isEqualTo(new Completion.Executed(true, true));

            assertThat(store.calls)
                    .containsExactly("begin", "claim in open", "rollback", "after rollback", "record done");
        }

        @Test
        void thatReleasesStoresNothing() throws Throwable {
            assertThat(late(claim -> {
                        claim.of(Node.call(settings().build(), "k", "10 EUR"));
                        return new Finish.Release();
                    }))
                    .isEqualTo(UNDONE);

            assertThat(store.calls).containsExactly("begin", "claim in open", "rollback", "after rollback");
            assertThat(node.outcomes).containsExactly("failed");
        }

        @Test
        void ofAnUnknownCommitIsWhatTheProbeFinds() throws Throwable {
            transactions.commitFails = new CommitFailedException(CommitFailedException.Kind.UNKNOWN, failure);
            store.answer("probe", CommitProbe.COMMITTED, CommitProbe.ROLLED_BACK, CommitProbe.UNKNOWN);

            assertThat(late(paying(LateCallsTests.this::work))).isEqualTo(new Completion.Executed(true, false));
            assertThat(store.calls).doesNotContain("after rollback");
            assertThatThrownBy(() -> late(paying(LateCallsTests.this::work))).isSameAs(failure);
            assertThat(store.calls).endsWith("probe", "after rollback");
            assertThatThrownBy(() -> late(paying(LateCallsTests.this::work)))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasCause(failure);
            assertThat(store.calls).endsWith("probe");
        }

        @Test
        void ofACommitInFavourOfAWinnerIsHisResult() throws Throwable {
            transactions.commitFails = new CommitFailedException(CommitFailedException.Kind.CONFLICT, failure);
            store.answer("find", doneRecord());

            assertIsOfAnother(late(paying(LateCallsTests.this::work)));
        }

        @Test
        void ofAConflictAtTheCompletionIsTheWinnersResult() throws Throwable {
            store.fail("complete", conflict);
            store.answer("find", doneRecord());

            assertIsOfAnother(late(paying(LateCallsTests.this::work)));

            assertThat(store.calls).contains("rollback", "after rollback");
            assertThat(node.events).containsExactly("conflict");
        }

        @Test
        void ofASilentStoreAtTheCompletionIsARollback() {
            store.fail("complete", silent);
            OperationSettings proceeding =
                    settings().proceedOnStoreFailure(true).build();

            assertThatThrownBy(() -> late(proceeding, paying(proceeding, LateCallsTests.this::work)))
                    .isSameAs(silent);

            assertThat(store.calls)
                    .containsExactly("begin", "claim in open", "work", "complete", "rollback", "after rollback");
        }
    }

    @Nested
    class InATransactionOfTheApplication {

        InATransactionOfTheApplication() {
            transactions.open = true;
        }

        @Test
        void theClaimAndTheCompletionJoin() throws Throwable {
            assertThat(late(paying(LateCallsTests.this::work))).isEqualTo(new Completion.Executed(true, false));

            assertThat(store.calls).containsExactly("claim in open", "work", "complete");
            assertThat(transactions.rollbackOnly).isFalse();
        }

        @Test
        void workWithoutAKeyLeavesItAlone() throws Throwable {
            assertThat(late(claim -> new Finish.Store(Node.result("nothing"), false)))
                    .isEqualTo(new Completion.Executed(false, false));

            assertThat(transactions.rollbackOnly).isFalse();
        }

        // What was done before the claim must not stand beside the result of another.
        @Test
        void aReplayMarksIt() throws Throwable {
            store.answer("claim in open", done("10 EUR"));

            assertIsOfAnother(late(paying(LateCallsTests.this::work)));

            assertThat(transactions.rollbackOnly).isTrue();
        }

        @Test
        void aFailureMarksIt() {
            assertThatThrownBy(() -> late(paying(LateCallsTests.this::failingWork)))
                    .isSameAs(failure);

            assertThat(transactions.rollbackOnly).isTrue();
        }

        @Test
        void aFailureForWhichTheRulesCommitIsStoredAndDoesNotMarkIt() {
            transactions.commitsOn = IOException.class;
            IOException declined = new IOException("declined");

            assertThatThrownBy(() -> late(paying(attempt -> {
                        throw declined;
                    })))
                    .isSameAs(declined);

            assertThat(store.calls).containsExactly("claim in open", "complete");
            assertThat(transactions.rollbackOnly).isFalse();
        }

        @Test
        void thatIsReadOnlyTheKeyIsRefusedBeforeTheWork() {
            transactions.readOnly = true;

            assertThatThrownBy(() -> late(paying(LateCallsTests.this::work)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("read-only");

            assertThat(store.calls).isEmpty();
            assertThat(transactions.rollbackOnly).isTrue();
        }

        @Test
        void aLostCompletionMarksIt() {
            store.answer("complete", WriteOutcome.LOST);

            assertThatThrownBy(() -> late(paying(LateCallsTests.this::work)))
                    .isInstanceOf(OperationInProgressException.class);
            assertThat(transactions.rollbackOnly).isTrue();
        }
    }
}
