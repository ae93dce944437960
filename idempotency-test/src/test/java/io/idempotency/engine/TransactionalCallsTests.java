package io.idempotency.engine;

import static io.idempotency.engine.Node.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.IdempotencyContext;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.OutcomePolicy.Disposition;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.WriteOutcome;
import io.idempotency.support.StringResultCodec;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class TransactionalCallsTests extends TransactionalTests {

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
        void neverReturnsAValue() {
            ValueCalls.ValueType text = new ValueCalls.ValueType(String.class, new StringResultCodec(), List.of());

            assertThatThrownBy(() -> new ValueCalls(node.engine).<String>execute(pay(), text, () -> {
                        transactions.setRollbackOnly();
                        return effect("paid");
                    }))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("marked for rollback");

            assertThat(store.written).isEmpty();
        }

        @Test
        void neverLeavesASuccess() throws Throwable {
            assertThat(refuse(false)).isEqualTo(new Completion.Executed(false, true));

            assertThat(store.written).isEmpty();
            assertThat(store.calls).containsExactly("before", "begin", "claim", "rollback", "after rollback");
            assertThat(node.outcomes).containsExactly("failed");
        }

        @Test
        void leavesARefusalThatStands() throws Throwable {
            assertThat(refuse(true)).isEqualTo(new Completion.Executed(true, true));

            assertThat(store.calls)
                    .containsExactly("before", "begin", "claim", "rollback", "after rollback", "record done");
            assertThat(node.outcomes).containsExactly("executed");
        }

        @Test
        void givesWayToTheResultOfAnother() throws Throwable {
            store.answer("record done", done("10 EUR"));

            assertIsOfAnother(refuse(true));
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
}
