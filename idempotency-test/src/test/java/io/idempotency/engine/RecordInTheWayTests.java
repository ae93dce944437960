package io.idempotency.engine;

import static io.idempotency.engine.Node.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.Guarantee;
import io.idempotency.KeyReusedException;
import io.idempotency.OperationInProgressException;
import io.idempotency.OutcomeUnknownException;
import io.idempotency.ResultUnreadableException;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.WriteOutcome;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Another call has the key, or had it. */
class RecordInTheWayTests extends TransactionalTests {

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
    void thatCannotBeReadIsNeitherAnAnswerNorNothing() {
        store.answer("claim", new ClaimResult.Unreadable(fingerprint("10 EUR"), "written by the future"));
        store.answer("claim", new ClaimResult.Unreadable(fingerprint("11 EUR"), "written by the future"));

        assertThatThrownBy(() -> pay("twice"))
                .isInstanceOf(ResultUnreadableException.class)
                .hasMessageContaining("written by the future");
        assertThatThrownBy(() -> pay("twice")).isInstanceOf(KeyReusedException.class);

        assertThat(effects).hasValue(0);
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
                        "before", "begin", "claim", "rollback", "find", "before", "begin", "claim", "rollback", "find");
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
                .containsExactly("before", "begin", "claim", "work", "complete", "rollback", "after rollback", "find");
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
