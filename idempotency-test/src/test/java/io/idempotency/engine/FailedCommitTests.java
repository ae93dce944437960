package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.CommitFailedException;
import io.idempotency.spi.TransactionConflictException;
import io.idempotency.spi.TransactionalStore.CommitProbe;
import java.io.IOException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The database ends the transaction otherwise than it was told to, or does not say how. */
class FailedCommitTests extends TransactionalTests {

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
}
