package io.idempotency.engine;

import static io.idempotency.engine.Node.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.Guarantee;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.CommitFailedException;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionConflictException;
import io.idempotency.spi.TransactionalStore.CommitProbe;
import io.idempotency.spi.WriteOutcome;
import io.idempotency.support.StringResultCodec;
import io.idempotency.support.VoidResultCodec;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Nothing is left to be written at the end, because what the work is going to leave was known before. */
class KnownResultTests extends TransactionalTests {

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

        assertIsOfAnother(work());

        assertThat(store.calls).containsExactly("before", "begin", "claim done", "rollback");
        assertThat(effects).hasValue(0);
    }

    @Test
    void isStoredByTheTakeover() throws Throwable {
        store.answer("claim done", new ClaimResult.Abandoned(fingerprint("10 EUR"), ANOTHER, Guarantee.AT_LEAST_ONCE));

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
