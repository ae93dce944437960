package io.idempotency.engine;

import static io.idempotency.engine.Node.call;
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
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.OutcomePolicy.Disposition;
import io.idempotency.spi.Owner;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionConflictException;
import io.idempotency.spi.TransactionalStore.CommitProbe;
import io.idempotency.spi.WriteOutcome;
import io.idempotency.support.StringResultCodec;
import io.idempotency.support.VoidResultCodec;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class TransactionalCallsTests {

    private static final Owner ANOTHER = new Owner(new UUID(7, 7));

    private final VirtualRuntime runtime = new VirtualRuntime();
    private final ScriptedTransactionalStore store = new ScriptedTransactionalStore();
    private final ScriptedTransactions transactions = new ScriptedTransactions(store.calls);
    private final Node node = new Node(store, runtime);
    private final AtomicInteger effects = new AtomicInteger();

    private OperationSettings.Builder settings() {
        return OperationSettings.of("pay", Guarantee.EXACTLY_ONCE).transactions(transactions);
    }

    private Call pay() {
        return call(settings().build(), "k", "10 EUR");
    }

    private String pay(String result) throws Throwable {
        return node.call(pay(), attempt -> effect(result));
    }

    private String effect(String result) {
        effects.incrementAndGet();
        store.calls.add("work");
        return result;
    }

    private ClaimResult done(String payload) {
        return new ClaimResult.Done(fingerprint(payload), ANOTHER, Node.result("of another"), Duration.ofHours(1));
    }

    private Optional<IdempotencyRecord> doneRecord() {
        return Optional.of(new IdempotencyRecord(
                pay().id(),
                "pay",
                Guarantee.EXACTLY_ONCE,
                true,
                fingerprint("10 EUR"),
                ANOTHER,
                1,
                Instant.EPOCH,
                Instant.EPOCH,
                null,
                Duration.ofHours(1),
                Node.result("of another"),
                null));
    }

    private Fingerprint fingerprint(String payload) {
        return call(settings().build(), "k", payload).fingerprint();
    }

    @Test
    void claimsWorksAndCompletesInOneTransaction() throws Throwable {
        assertThat(pay("paid")).isEqualTo("paid");

        assertThat(store.calls).containsExactly("before", "begin", "claim", "work", "complete", "commit");
        assertThat(node.outcomes).containsExactly("executed");
    }

    @Test
    void bindsTheContextOnlyWhileTheWorkRuns() throws Throwable {
        node.call(pay(), attempt -> {
            assertThat(IdempotencyContext.current()).get().satisfies(context -> {
                assertThat(context.operation()).isEqualTo("pay");
                assertThat(context.key()).isEqualTo("k");
                assertThat(context.fencingToken()).isEqualTo(1);
                assertThat(context.leaseLost()).isFalse();
            });
            return "paid";
        });

        assertThat(IdempotencyContext.current()).isEmpty();
    }

    @Nested
    class ARecordInTheWay {

        @Test
        void thatIsDoneIsTheAnswerWithoutATransaction() throws Throwable {
            store.answer("before", Optional.of(done("10 EUR")));

            assertThat(pay("twice")).isEqualTo("of another");

            assertThat(store.calls).containsExactly("before");
        }

        @Test
        void thatIsDoneEndsTheTransactionOfTheClaimAtOnce() throws Throwable {
            store.answer("claim", done("10 EUR"));

            assertThat(pay("twice")).isEqualTo("of another");

            assertThat(store.calls).containsExactly("before", "begin", "claim", "rollback");
            assertThat(effects).hasValue(0);
        }

        @Test
        void ofAnotherPayloadIsRefused() {
            store.answer("claim", done("11 EUR"));

            assertThatThrownBy(() -> pay("twice")).isInstanceOf(KeyReusedException.class);
        }

        @Test
        void thatIsHeldByATransactionIsInProgress() {
            store.answer("claim", new ClaimResult.InProgress(Fingerprint.NONE, null));

            assertThatThrownBy(() -> pay("twice")).isInstanceOf(OperationInProgressException.class);
            assertThat(store.calls).containsExactly("before", "begin", "claim", "rollback");
        }

        @Test
        void thatIsLeasedTellsWhenToRetry() {
            store.answer("claim", new ClaimResult.InProgress(Fingerprint.NONE, Duration.ofMillis(7)));

            assertThatThrownBy(() -> pay("twice"))
                    .isInstanceOfSatisfying(
                            OperationInProgressException.class,
                            busy -> assertThat(busy.retryAfter()).isEqualTo(Duration.ofMillis(7)));
        }

        @Test
        void thatVanishedIsTakenOverInTheTransaction() throws Throwable {
            store.answer("claim", new ClaimResult.Abandoned(fingerprint("10 EUR"), ANOTHER, Guarantee.AT_LEAST_ONCE));

            assertThat(pay("paid")).isEqualTo("paid");

            assertThat(store.calls).containsExactly("before", "begin", "claim", "claim", "work", "complete", "commit");
            assertThat(node.events).containsExactly("takeover 2");
        }

        @Test
        void thatVanishedAndWasSeenBeforeIsTakenOverInTheTransaction() throws Throwable {
            store.answer(
                    "before",
                    Optional.of(new ClaimResult.Abandoned(fingerprint("10 EUR"), ANOTHER, Guarantee.AT_LEAST_ONCE)));

            assertThat(pay("paid")).isEqualTo("paid");
            assertThat(node.events).containsExactly("takeover 2");
        }

        @Test
        void thatVanishedUnderAtMostOnceLeavesTheOutcomeUnknown() {
            store.answer("claim", new ClaimResult.Abandoned(fingerprint("10 EUR"), ANOTHER, Guarantee.AT_MOST_ONCE));

            assertThatThrownBy(() -> pay("twice")).isInstanceOf(OutcomeUnknownException.class);
            assertThat(effects).hasValue(0);
        }

        // Case 11: a conflict and then nothing there is no licence to run without a claim.
        @Test
        void thatIsGoneWhenLookedAtIsClaimedOnceMoreAndThenInProgress() {
            store.answer("claim", new ClaimResult.Contended(), new ClaimResult.Contended());

            assertThatThrownBy(() -> pay("twice")).isInstanceOf(OperationInProgressException.class);

            assertThat(store.calls)
                    .containsExactly(
                            "before",
                            "begin",
                            "claim",
                            "rollback",
                            "find",
                            "before",
                            "begin",
                            "claim",
                            "rollback",
                            "find");
            assertThat(effects).hasValue(0);
        }

        @Test
        void thatIsDoneWhenLookedAtIsTheAnswer() throws Throwable {
            store.answer("claim", new ClaimResult.Contended());
            store.answer("find", doneRecord());

            assertThat(pay("twice")).isEqualTo("of another");
        }

        @Test
        void isWaitedForWithoutATransaction() throws Throwable {
            store.answer("claim", new ClaimResult.InProgress(Fingerprint.NONE, null), done("10 EUR"));
            Call waiting = call(settings().waitAtMost(Duration.ofSeconds(1)).build(), "k", "10 EUR");

            assertThat(node.call(waiting, attempt -> effect("twice"))).isEqualTo("of another");
            assertThat(store.calls)
                    .containsExactly("before", "begin", "claim", "rollback", "before", "begin", "claim", "rollback");
        }

        @Test
        void foundAtTheCompletionRollsTheWorkBackAndIsTheAnswer() throws Throwable {
            store.answer("complete", WriteOutcome.LOST);
            store.answer("find", doneRecord());

            assertThat(pay("lost")).isEqualTo("of another");

            assertThat(store.calls)
                    .containsExactly(
                            "before", "begin", "claim", "work", "complete", "rollback", "after rollback", "find");
            assertThat(node.events).containsExactly("conflict");
        }

        @Test
        void foundAtTheCompletionAndGoneAgainIsInProgressAndRunsNothingTwice() {
            store.answer("complete", WriteOutcome.LOST);

            assertThatThrownBy(() -> pay("lost")).isInstanceOf(OperationInProgressException.class);
            assertThat(effects).hasValue(1);
        }

        @Test
        void foundAtTheCompletionIsNotWaitedForBecauseTheWorkCannotRunTwice() {
            store.answer("complete", WriteOutcome.LOST);
            Call waiting = call(settings().waitAtMost(Duration.ofSeconds(1)).build(), "k", "10 EUR");

            assertThatThrownBy(() -> node.call(waiting, attempt -> effect("lost")))
                    .isInstanceOf(OperationInProgressException.class);
            assertThat(effects).hasValue(1);
        }
    }

    @Nested
    class AFailure {

        @Test
        void rollsBackReachesTheCallerUnchangedAndStoresNothing() {
            IllegalStateException failure = new IllegalStateException("no");

            assertThatThrownBy(() -> node.call(pay(), attempt -> {
                        throw failure;
                    }))
                    .isSameAs(failure)
                    .hasNoSuppressedExceptions();

            assertThat(store.calls).containsExactly("before", "begin", "claim", "rollback", "after rollback");
            assertThat(store.written).isEmpty();
            assertThat(node.outcomes).containsExactly("failed");
        }

        // Case 18: the rollback proves that nothing happened, whatever was thrown.
        @Test
        void thatIsAnErrorRollsBackAsWell() {
            StackOverflowError failure = new StackOverflowError();

            assertThatThrownBy(() -> node.call(pay(), attempt -> {
                        throw failure;
                    }))
                    .isSameAs(failure);
            assertThat(store.calls).contains("rollback");
        }

        @Test
        void forWhichTheRulesCommitIsStoredInThatCommit() {
            transactions.commitsOn = IOException.class;
            IOException failure = new IOException("declined");

            assertThatThrownBy(() -> node.call(pay(), attempt -> {
                        throw failure;
                    }))
                    .isSameAs(failure);

            assertThat(store.calls).containsExactly("before", "begin", "claim", "complete", "commit");
            assertThat(store.written)
                    .singleElement()
                    .extracting(StoredResult::kind)
                    .isEqualTo(StoredResult.Kind.FAILURE);
        }

        @Test
        void thatCannotBeStoredRollsBack() {
            transactions.commitsOn = IOException.class;
            RuntimeException ours = new IllegalStateException("too long");
            store.fail("complete", ours);

            assertThatThrownBy(() -> node.call(pay(), attempt -> {
                        throw new IOException("declined");
                    }))
                    .isInstanceOf(IOException.class)
                    .hasSuppressedException(ours);

            assertThat(store.calls)
                    .containsExactly("before", "begin", "claim", "complete", "rollback", "after rollback");
        }

        // Another attempt's record was there: nothing of this one may be committed.
        @Test
        void forWhichTheRulesCommitRollsBackIfAnotherAttemptWasFaster() {
            transactions.commitsOn = IOException.class;
            store.answer("complete", WriteOutcome.LOST);

            assertThatThrownBy(() -> node.call(pay(), attempt -> {
                        throw new IOException("declined");
                    }))
                    .isInstanceOf(IOException.class);

            assertThat(store.calls)
                    .containsExactly("before", "begin", "claim", "complete", "rollback", "after rollback");
        }

        @Test
        void isJudgedByTheRulesFirstAndThenByThePolicy() throws Throwable {
            transactions.commitsOn = IOException.class;

            node.call(pay(), attempt -> {
                assertThat(attempt.judge(new IOException("declined"))).isEqualTo(Disposition.STORE);
                assertThat(attempt.rollbackOnly()).isFalse();
                assertThat(attempt.judge(new IllegalStateException("no"))).isEqualTo(Disposition.UNDECIDED);
                assertThat(attempt.rollbackOnly()).isTrue();
                return "rolled back";
            });

            assertThat(store.calls).containsExactly("before", "begin", "claim", "rollback", "after rollback");
        }

        @Test
        void thatThePolicyFailsToJudgeReachesTheCallerAllTheSame() {
            RuntimeException ours = new IllegalStateException("policy");
            Call judged = call(
                    settings()
                            .outcomePolicy((failure, guarantee) -> {
                                throw ours;
                            })
                            .build(),
                    "k",
                    "10 EUR");

            assertThatThrownBy(() -> node.call(judged, attempt -> {
                        throw new IOException("declined");
                    }))
                    .isInstanceOf(IOException.class)
                    .hasSuppressedException(ours);
        }

        @Test
        void thatIsNamedAsFinalIsStoredAfterTheRollback() {
            Call storing = call(
                    settings()
                            .outcomePolicy(new DefaultOutcomePolicy(List.of(IllegalStateException.class), List.of()))
                            .build(),
                    "k",
                    "10 EUR");

            assertThatThrownBy(() -> node.call(storing, attempt -> {
                        throw new IllegalStateException("declined");
                    }))
                    .isInstanceOf(IllegalStateException.class);

            assertThat(store.calls)
                    .containsExactly("before", "begin", "claim", "rollback", "after rollback", "record done");
            assertThat(store.written)
                    .singleElement()
                    .extracting(StoredResult::kind)
                    .isEqualTo(StoredResult.Kind.FAILURE);
        }
    }

    @Nested
    class ARollbackThatSomebodyElseWanted {

        private Completion refuse(boolean stands) throws Throwable {
            return node.engine.execute(pay(), attempt -> {
                transactions.setRollbackOnly();
                assertThat(attempt.rollbackOnly()).isTrue();
                return new Finish.Store(Node.result("402"), stands);
            });
        }

        @Test
        void neverLeavesASuccess() throws Throwable {
            assertThat(refuse(false)).isEqualTo(new Completion.Executed(false, true));

            assertThat(store.written).isEmpty();
            assertThat(store.calls).containsExactly("before", "begin", "claim", "rollback", "after rollback");
        }

        @Test
        void leavesARefusalThatStands() throws Throwable {
            assertThat(refuse(true)).isEqualTo(new Completion.Executed(true, true));

            assertThat(store.calls)
                    .containsExactly("before", "begin", "claim", "rollback", "after rollback", "record done");
        }

        @Test
        void givesWayToTheResultOfAnother() throws Throwable {
            store.answer("record done", done("10 EUR"));

            assertThat(refuse(true))
                    .isInstanceOfSatisfying(
                            Completion.Replayed.class,
                            replayed -> assertThat(Node.text(replayed.result())).isEqualTo("of another"));
        }

        @Test
        void isAnsweredUnstoredWhileAnotherRunsOrTheStoreIsSilent() throws Throwable {
            store.answer("record done", new ClaimResult.InProgress(Fingerprint.NONE, null), done("11 EUR"));
            store.fail("record done", new StoreUnavailableException("silent", null));

            for (int i = 0; i < 3; i++) {
                assertThat(refuse(true)).isEqualTo(new Completion.Executed(false, true));
            }
        }
    }

    @Nested
    class ACommitThatFailed {

        private final RuntimeException failure = new IllegalStateException("commit");

        @Test
        void becauseOfAConstraintIsTheCallersFailure() {
            transactions.commitFails = new CommitFailedException(CommitFailedException.Kind.ROLLED_BACK, failure);

            assertThatThrownBy(() -> pay("lost")).isSameAs(failure);
            assertThat(store.calls).endsWith("commit", "after rollback");
        }

        @Test
        void inFavourOfAWinnerHasItsResult() throws Throwable {
            transactions.commitFails = new CommitFailedException(CommitFailedException.Kind.CONFLICT, failure);
            store.answer("find", doneRecord());

            assertThat(pay("lost")).isEqualTo("of another");
        }

        @Test
        void inFavourOfAStrangerIsTheCallersFailure() {
            transactions.commitFails = new CommitFailedException(CommitFailedException.Kind.CONFLICT, failure);

            assertThatThrownBy(() -> pay("lost")).isSameAs(failure);
            assertThat(effects).hasValue(1);
        }

        @Test
        void orSeemedToIsASuccessIfTheProbeFindsOurOwner() throws Throwable {
            transactions.commitFails = new CommitFailedException(CommitFailedException.Kind.UNKNOWN, failure);
            store.answer("probe", CommitProbe.COMMITTED);

            assertThat(pay("paid")).isEqualTo("paid");
            assertThat(node.outcomes).containsExactly("executed");
        }

        @Test
        void orSeemedToStillPassesOnTheFailureThatWasCommitted() {
            transactions.commitsOn = IOException.class;
            transactions.commitFails = new CommitFailedException(CommitFailedException.Kind.UNKNOWN, failure);
            store.answer("probe", CommitProbe.COMMITTED);

            assertThatThrownBy(() -> node.call(pay(), attempt -> {
                        throw new IOException("declined");
                    }))
                    .isInstanceOf(IOException.class);
        }

        @Test
        void isTheCallersFailureIfTheProbeFindsItRolledBack() {
            transactions.commitFails = new CommitFailedException(CommitFailedException.Kind.UNKNOWN, failure);
            store.answer("probe", CommitProbe.ROLLED_BACK);

            assertThatThrownBy(() -> pay("lost")).isSameAs(failure);
        }

        @Test
        void isNeverCalledRolledBackIfTheProbeCannotTell() {
            transactions.commitFails = new CommitFailedException(CommitFailedException.Kind.UNKNOWN, failure);

            assertThatThrownBy(() -> pay("lost"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasCause(failure);
            assertThat(store.calls).doesNotContain("after rollback");
            assertThat(node.outcomes).containsExactly("store_unavailable");
        }
    }

    @Nested
    class AConflictOfAStatement {

        private final TransactionConflictException conflict =
                new TransactionConflictException("deadlock", new IllegalStateException());

        @Test
        void ofTheClaimIsTriedOnceMore() throws Throwable {
            store.fail("claim", conflict);

            assertThat(pay("paid")).isEqualTo("paid");
            assertThat(effects).hasValue(1);
        }

        @Test
        void ofTheCompletionHasTheResultOfTheWinner() throws Throwable {
            store.fail("complete", conflict);
            store.answer("find", doneRecord());

            assertThat(pay("lost")).isEqualTo("of another");
            assertThat(store.calls).contains("rollback");
        }

        @Test
        void ofTheCompletionWithoutAWinnerIsTheCallersFailure() {
            store.fail("complete", conflict);

            assertThatThrownBy(() -> pay("lost")).isSameAs(conflict);
            assertThat(effects).hasValue(1);
        }
    }

    @Nested
    class AStoreThatIsSilent {

        private final StoreUnavailableException silent = new StoreUnavailableException("silent", null);

        @Test
        void refusesTheCall() {
            transactions.beginFails = silent;

            assertThatThrownBy(() -> pay("unprotected")).isSameAs(silent);
            assertThat(effects).hasValue(0);
        }

        @Test
        void letsTheWorkRunUnprotectedWhereThatIsWanted() throws Throwable {
            transactions.beginFails = silent;
            Call proceeding = call(settings().proceedOnStoreFailure(true).build(), "k", "10 EUR");

            assertThat(node.call(proceeding, attempt -> {
                        assertThat(attempt.context()).isNull();
                        return effect("unprotected");
                    }))
                    .isEqualTo("unprotected");
            assertThat(node.outcomes).containsExactly("unprotected");
        }

        @Test
        void isNoReasonToSayThatAResultWasStored() throws Throwable {
            transactions.beginFails = silent;
            Call proceeding = call(settings().proceedOnStoreFailure(true).build(), "k", "10 EUR");

            assertThat(node.engine.execute(proceeding, attempt -> new Finish.Store(Node.result("unprotected"), false)))
                    .isEqualTo(new Completion.Executed(false, false));
        }

        @Test
        void atTheCompletionRollsBackAndIsNeverUnprotected() {
            store.fail("complete", silent);
            Call proceeding = call(settings().proceedOnStoreFailure(true).build(), "k", "10 EUR");

            assertThatThrownBy(() -> node.call(proceeding, attempt -> effect("lost")))
                    .isSameAs(silent);
            assertThat(effects).hasValue(1);
            assertThat(store.calls).endsWith("complete", "rollback", "after rollback");
        }
    }

    @Nested
    class InATransactionOfTheApplication {

        @Test
        void theClaimAndTheCompletionJoin() throws Throwable {
            transactions.open = true;

            assertThat(pay("paid")).isEqualTo("paid");

            assertThat(store.calls).containsExactly("claim in open", "work", "complete");
            assertThat(transactions.rollbackOnly).isFalse();
        }

        @Test
        void theResultIsSaidToBeStored() throws Throwable {
            transactions.open = true;

            assertThat(node.engine.execute(pay(), attempt -> new Finish.Store(Node.result("paid"), false)))
                    .isEqualTo(new Completion.Executed(true, false));
        }

        @Test
        void aFailureForWhichTheRulesCommitIsStoredAndReachesTheCaller() {
            transactions.open = true;
            transactions.commitsOn = IOException.class;

            assertThatThrownBy(() -> node.call(pay(), attempt -> {
                        throw new IOException("declined");
                    }))
                    .isInstanceOf(IOException.class);

            assertThat(store.calls).containsExactly("claim in open", "complete");
            assertThat(transactions.rollbackOnly).isFalse();
        }

        // The database has ended it: whoever swallows the exception must not commit what comes after it.
        @Test
        void aConflictOfTheClaimMarksIt() {
            transactions.open = true;
            TransactionConflictException conflict =
                    new TransactionConflictException("deadlock", new IllegalStateException());
            store.fail("claim in open", conflict);

            assertThatThrownBy(() -> pay("lost")).isSameAs(conflict);

            assertThat(transactions.rollbackOnly).isTrue();
            assertThat(effects).hasValue(0);
        }

        @Test
        void aLeasedRecordTellsWhenToRetry() {
            transactions.open = true;
            store.answer("claim in open", new ClaimResult.InProgress(Fingerprint.NONE, Duration.ofMillis(7)));

            assertThatThrownBy(() -> pay("twice"))
                    .isInstanceOfSatisfying(
                            OperationInProgressException.class,
                            busy -> assertThat(busy.retryAfter()).isEqualTo(Duration.ofMillis(7)));
        }

        @Test
        void aRefusalLeavesItAlone() {
            transactions.open = true;
            store.answer("claim in open", new ClaimResult.Contended(), done("11 EUR"));

            assertThatThrownBy(() -> pay("twice")).isInstanceOf(OperationInProgressException.class);
            assertThatThrownBy(() -> pay("twice")).isInstanceOf(KeyReusedException.class);

            assertThat(transactions.rollbackOnly).isFalse();
        }

        @Test
        void aReplayLeavesItAlone() throws Throwable {
            transactions.open = true;
            store.answer("claim in open", done("10 EUR"));

            assertThat(pay("twice")).isEqualTo("of another");
            assertThat(transactions.rollbackOnly).isFalse();
        }

        @Test
        void aFailureMarksIt() {
            transactions.open = true;

            assertThatThrownBy(() -> node.call(pay(), attempt -> {
                        throw new IllegalStateException("no");
                    }))
                    .hasMessage("no");
            assertThat(transactions.rollbackOnly).isTrue();
        }

        @Test
        void aLostCompletionMarksIt() {
            transactions.open = true;
            store.answer("complete", WriteOutcome.LOST);

            assertThatThrownBy(() -> pay("lost")).isInstanceOf(OperationInProgressException.class);
            assertThat(transactions.rollbackOnly).isTrue();
        }

        @Test
        void thatIsReadOnlyTheCallIsRefusedBeforeTheWork() {
            transactions.open = true;
            transactions.readOnly = true;

            assertThatThrownBy(() -> pay("lost"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("read-only");
            assertThat(effects).hasValue(0);
            assertThat(store.calls).isEmpty();
        }
    }

    @Nested
    class WorkOutsideTheTransaction {

        @Test
        void isReported() throws Throwable {
            transactions.outside = "Audit.write";

            assertThat(pay("paid")).isEqualTo("paid");
            assertThat(node.events).containsExactly("outside Audit.write");
        }

        @Test
        void failsTheCallWhereTheGuaranteeWasAskedFor() {
            transactions.outside = "Audit.write";
            Call strict = call(settings().failOnWorkOutside(true).build(), "k", "10 EUR");

            assertThatThrownBy(() -> node.call(strict, attempt -> "paid"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Audit.write");
            assertThat(store.calls).contains("rollback").doesNotContain("complete");
        }

        // The failure is ours, not the work's: no rule about failures of the work is about it.
        @Test
        void isNeverStoredAsTheFailureOfTheWork() {
            transactions.outside = "Audit.write";
            Call strict = call(
                    settings()
                            .failOnWorkOutside(true)
                            .outcomePolicy(new DefaultOutcomePolicy(List.of(IllegalStateException.class), List.of()))
                            .build(),
                    "k",
                    "10 EUR");

            assertThatThrownBy(() -> node.call(strict, attempt -> "paid")).isInstanceOf(IllegalStateException.class);
            assertThat(store.written).isEmpty();
        }
    }

    @Test
    void cannotBeBegunInOnePlaceAndEndedInAnother() {
        assertThatThrownBy(() -> node.engine.begin(pay())).isInstanceOf(IllegalStateException.class);
    }

    /** Nothing is left to be written at the end, because what the work is going to leave was known before. */
    @Nested
    class AResultThatIsKnownBefore {

        private StoredResult ending = Node.result("done");

        private Completion work() throws Throwable {
            return work(settings().build());
        }

        private Completion work(OperationSettings settings) throws Throwable {
            return node.engine.execute(call(settings, "k", "10 EUR"), new Known(() -> effect("done")));
        }

        @Test
        void isStoredByTheClaimAlone() throws Throwable {
            assertThat(work()).isEqualTo(new Completion.Executed(true, false));

            assertThat(store.calls).containsExactly("before", "begin", "claim done", "work", "commit");
            assertThat(store.written).containsExactly(Node.result("done"));
            assertThat(node.outcomes).containsExactly("executed");
        }

        @Test
        void isStoredByTheClaimInATransactionOfTheApplication() throws Throwable {
            transactions.open = true;

            assertThat(work()).isEqualTo(new Completion.Executed(true, false));

            assertThat(store.calls).containsExactly("claim done in open", "work");
            assertThat(transactions.rollbackOnly).isFalse();
        }

        @Test
        void isNotTheAnswerOfADuplicate() throws Throwable {
            store.answer("claim done", done("10 EUR"));

            assertThat(work())
                    .isInstanceOfSatisfying(
                            Completion.Replayed.class,
                            replayed -> assertThat(Node.text(replayed.result())).isEqualTo("of another"));

            assertThat(store.calls).containsExactly("before", "begin", "claim done", "rollback");
            assertThat(effects).hasValue(0);
        }

        @Test
        void isStoredByTheTakeover() throws Throwable {
            store.answer(
                    "claim done", new ClaimResult.Abandoned(fingerprint("10 EUR"), ANOTHER, Guarantee.AT_LEAST_ONCE));

            work();

            assertThat(store.calls).containsExactly("before", "begin", "claim done", "claim done", "work", "commit");
            assertThat(node.events).containsExactly("takeover 2");
        }

        @Test
        void isGoneWithTheTransactionOfWorkThatThrew() {
            assertThatThrownBy(() -> node.engine.execute(pay(), new Known(() -> {
                        throw new IOException("no");
                    })))
                    .isInstanceOf(IOException.class);

            assertThat(store.calls).containsExactly("before", "begin", "claim done", "rollback", "after rollback");
        }

        @Test
        void isGoneWithTheApplicationsTransactionOfWorkThatThrew() {
            transactions.open = true;

            assertThatThrownBy(() -> node.engine.execute(pay(), new Known(() -> {
                        throw new IOException("no");
                    })))
                    .isInstanceOf(IOException.class);

            assertThat(transactions.rollbackOnly).isTrue();
        }

        @Test
        void isGoneWithATransactionThatIsMarked() throws Throwable {
            Completion completion = node.engine.execute(pay(), new Known(() -> {
                transactions.setRollbackOnly();
            }));

            assertThat(completion).isEqualTo(new Completion.Executed(false, true));
            assertThat(store.calls).containsExactly("before", "begin", "claim done", "rollback", "after rollback");
        }

        @Test
        void givesWayToAFailureThatIsCommitted() {
            transactions.commitsOn = IOException.class;

            assertThatThrownBy(() -> node.engine.execute(pay(), new Known(() -> {
                        throw new IOException("final");
                    })))
                    .isInstanceOf(IOException.class);

            assertThat(store.calls).containsExactly("before", "begin", "claim done", "complete", "commit");
            assertThat(store.written.get(1).kind()).isEqualTo(StoredResult.Kind.FAILURE);
        }

        @Test
        void isNotCommittedWhereTheFailureCannotTakeItsPlace() {
            transactions.commitsOn = IOException.class;
            store.answer("complete", WriteOutcome.LOST);

            assertThatThrownBy(() -> node.engine.execute(pay(), new Known(() -> {
                        throw new IOException("final");
                    })))
                    .isInstanceOf(IOException.class);

            assertThat(store.calls)
                    .containsExactly("before", "begin", "claim done", "complete", "rollback", "after rollback");
        }

        @Test
        void givesWayToAFailureThatIsStoredAfterTheRollback() {
            OperationSettings settings = settings()
                    .outcomePolicy(new DefaultOutcomePolicy(List.of(IOException.class), List.of()))
                    .build();

            assertThatThrownBy(() -> node.engine.execute(call(settings, "k", "10 EUR"), new Known(() -> {
                        throw new IOException("final");
                    })))
                    .isInstanceOf(IOException.class);

            assertThat(store.calls)
                    .containsExactly("before", "begin", "claim done", "rollback", "after rollback", "record done");
            assertThat(store.written.get(1).kind()).isEqualTo(StoredResult.Kind.FAILURE);
        }

        @Test
        void givesWayToAnotherOneThatTheWorkEndsWith() throws Throwable {
            ending = Node.result("something else");

            work();

            assertThat(store.calls).containsExactly("before", "begin", "claim done", "work", "complete", "commit");
            assertThat(store.written).containsExactly(Node.result("done"), ending);
        }

        // The retention counts from the completion, and a tenth of it would be missing.
        @Test
        void isStoredOnceMoreAfterWorkThatTookLongBesideItsRetention() throws Throwable {
            OperationSettings settings =
                    settings().retention(Duration.ofSeconds(30)).build();

            node.engine.execute(call(settings, "k", "10 EUR"), new Known(() -> runtime.sleep(Duration.ofSeconds(3))));

            assertThat(store.calls).containsExactly("before", "begin", "claim done", "complete", "commit");
        }

        @Test
        void isClaimedOnceMoreWhereTheClaimMetAConflict() throws Throwable {
            store.fail("claim done", new TransactionConflictException("deadlock", new IllegalStateException()));

            work();

            assertThat(store.calls)
                    .containsExactly(
                            "before",
                            "begin",
                            "claim done",
                            "rollback",
                            "find",
                            "before",
                            "begin",
                            "claim done",
                            "work",
                            "commit");
            assertThat(effects).hasValue(1);
        }

        @Test
        void isProbedForWhereTheAnswerToTheCommitIsLost() throws Throwable {
            transactions.commitFails =
                    new CommitFailedException(CommitFailedException.Kind.UNKNOWN, new IllegalStateException());
            store.answer("probe", CommitProbe.COMMITTED);

            assertThat(work()).isEqualTo(new Completion.Executed(true, false));
        }

        @Test
        void isThatOfAMethodWithoutAValue() throws Throwable {
            ValueCalls.ValueType nothing = new ValueCalls.ValueType(void.class, new VoidResultCodec(), List.of());

            new ValueCalls(node.engine).<@Nullable Void>execute(pay(), nothing, () -> {
                effect("done");
                return null;
            });

            assertThat(store.calls).containsExactly("before", "begin", "claim done", "work", "commit");
            assertThat(store.written).containsExactly(StoredResult.value("void", new byte[0]));
        }

        @Test
        void isThatOfAMethodWhoseValueIsNotKept() throws Throwable {
            ValueCalls.ValueType text = new ValueCalls.ValueType(String.class, new StringResultCodec(), List.of());
            Call call = call(settings().storeResult(false).build(), "k", "10 EUR");

            assertThat(new ValueCalls(node.engine)
                            .<String>execute(call, text, () -> effect("paid"))
                            .value())
                    .isEqualTo("paid");

            assertThat(store.calls).containsExactly("before", "begin", "claim done", "work", "commit");
            assertThat(store.written.get(0).kind()).isEqualTo(StoredResult.Kind.NOT_REPLAYABLE);
        }

        @Test
        void isNotThatOfAMethodWhoseValueIsKept() throws Throwable {
            ValueCalls.ValueType text = new ValueCalls.ValueType(String.class, new StringResultCodec(), List.of());

            new ValueCalls(node.engine).<String>execute(pay(), text, () -> effect("paid"));

            assertThat(store.calls).containsExactly("before", "begin", "claim", "work", "complete", "commit");
        }

        private final class Known implements Work {

            private final Body body;

            private Known(Body body) {
                this.body = body;
            }

            @Override
            public Finish run(Attempt attempt) throws Throwable {
                body.run();
                return new Finish.Store(ending, false);
            }

            @Override
            public StoredResult resultInAdvance() {
                return Node.result("done");
            }
        }

        private interface Body {
            void run() throws Throwable;
        }
    }
}
