package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.KeyReusedException;
import io.idempotency.OperationInProgressException;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.TransactionConflictException;
import io.idempotency.spi.WriteOutcome;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The application has begun the transaction before the call, and ends it. */
class OpenTransactionCallsTests extends TransactionalTests {

    @BeforeEach
    void begin() {
        transactions.open = true;
    }

    @Test
    void theClaimAndTheCompletionJoin() throws Throwable {
        assertThat(pay("paid")).isEqualTo("paid");

        assertThat(store.calls).containsExactly("claim in open", "work", "complete");
        assertThat(transactions.rollbackOnly).isFalse();
    }

    @Test
    void theResultIsSaidToBeStored() throws Throwable {
        assertThat(node.engine.execute(pay(), attempt -> new Finish.Store(Node.result("paid"), false)))
                .isEqualTo(new Completion.Executed(true, false));
    }

    @Test
    void aFailureForWhichTheRulesCommitIsStoredAndReachesTheCaller() {
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
        TransactionConflictException conflict =
                new TransactionConflictException("deadlock", new IllegalStateException());
        store.fail("claim in open", conflict);

        assertThatThrownBy(() -> pay("lost")).isSameAs(conflict);

        assertThat(transactions.rollbackOnly).isTrue();
        assertThat(effects).hasValue(0);
    }

    @Test
    void aLeasedRecordTellsWhenToRetry() {
        store.answer("claim in open", new ClaimResult.InProgress(Fingerprint.NONE, Duration.ofMillis(7)));

        assertThatThrownBy(() -> pay("twice"))
                .isInstanceOfSatisfying(
                        OperationInProgressException.class,
                        busy -> assertThat(busy.retryAfter()).isEqualTo(Duration.ofMillis(7)));
    }

    @Test
    void aRefusalLeavesItAlone() {
        store.answer("claim in open", new ClaimResult.Contended(), done("11 EUR"));

        assertThatThrownBy(() -> pay("twice")).isInstanceOf(OperationInProgressException.class);
        assertThatThrownBy(() -> pay("twice")).isInstanceOf(KeyReusedException.class);

        assertThat(transactions.rollbackOnly).isFalse();
    }

    @Test
    void aReplayLeavesItAlone() throws Throwable {
        store.answer("claim in open", done("10 EUR"));

        assertThat(pay("twice")).isEqualTo("of another");
        assertThat(transactions.rollbackOnly).isFalse();
    }

    @Test
    void aFailureMarksIt() {
        assertThatThrownBy(() -> node.call(pay(), attempt -> {
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");
        assertThat(transactions.rollbackOnly).isTrue();
    }

    @Test
    void aLostCompletionMarksIt() {
        store.answer("complete", WriteOutcome.LOST);

        assertThatThrownBy(() -> pay("lost")).isInstanceOf(OperationInProgressException.class);
        assertThat(transactions.rollbackOnly).isTrue();
    }

    @Test
    void thatIsReadOnlyTheCallIsRefusedBeforeTheWork() {
        transactions.readOnly = true;

        assertThatThrownBy(() -> pay("lost"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("read-only");
        assertThat(effects).hasValue(0);
        assertThat(store.calls).isEmpty();
    }
}
