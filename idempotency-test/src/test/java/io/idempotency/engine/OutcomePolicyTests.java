package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.KeyReusedException;
import io.idempotency.spi.OutcomePolicy;
import io.idempotency.spi.OutcomePolicy.Disposition;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.sql.SQLTimeoutException;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** What becomes of an attempt whose action threw, unless its application says otherwise. */
class OutcomePolicyTests {

    private static final List<Throwable> AMBIGUOUS = List.of(
            new StackOverflowError(),
            new AssertionError(),
            new InterruptedException(),
            new SocketTimeoutException(),
            new HttpTimeoutException("request timed out"),
            new SQLTimeoutException(),
            new TimeoutException());

    private static final List<Throwable> CLEAR =
            List.of(new IllegalStateException(), new IOException(), new HttpConnectTimeoutException("no connection"));

    private final OutcomePolicy stock = new DefaultOutcomePolicy();

    private static Throwable causedBy(Throwable failure, int depth) {
        Throwable outer = failure;
        for (int i = 0; i < depth; i++) {
            outer = new IllegalStateException(outer);
        }
        return outer;
    }

    @Test
    void holdsWhatLeavesTheOutcomeOpenUnderAtLeastOnce() {
        assertThat(AMBIGUOUS).allSatisfy(failure -> {
            assertThat(stock.onThrow(failure, Guarantee.AT_LEAST_ONCE)).isEqualTo(Disposition.HOLD);
            assertThat(stock.onThrow(causedBy(failure, 19), Guarantee.AT_LEAST_ONCE))
                    .isEqualTo(Disposition.HOLD);
        });
        assertThat(CLEAR)
                .allSatisfy(failure -> assertThat(stock.onThrow(failure, Guarantee.AT_LEAST_ONCE))
                        .isEqualTo(Disposition.UNDECIDED));
    }

    @Test
    void looksAtTwentyFailuresOfAChainAndNoMore() {
        assertThat(stock.onThrow(causedBy(new TimeoutException(), 20), Guarantee.AT_LEAST_ONCE))
                .isEqualTo(Disposition.UNDECIDED);
    }

    @Test
    void endsWhereFailuresCauseEachOther() {
        Exception one = new IllegalStateException("one");
        one.initCause(new IllegalStateException("other", one));

        assertThat(stock.onThrow(one, Guarantee.AT_LEAST_ONCE)).isEqualTo(Disposition.UNDECIDED);
    }

    @Test
    void releasesUnderAtMostOnceWhatProvesThatNothingHappened() {
        for (Throwable harmless : List.of(
                new ConnectException(),
                causedBy(new ConnectException(), 1),
                new KeyReusedException("a call inside was refused", "one", "another"))) {
            assertThat(stock.onThrow(harmless, Guarantee.AT_MOST_ONCE)).isEqualTo(Disposition.RELEASE);
        }
        assertThat(AMBIGUOUS)
                .allSatisfy(failure -> assertThat(stock.onThrow(failure, Guarantee.AT_MOST_ONCE))
                        .isEqualTo(Disposition.HOLD));
        assertThat(CLEAR)
                .allSatisfy(failure -> assertThat(stock.onThrow(failure, Guarantee.AT_MOST_ONCE))
                        .isEqualTo(Disposition.HOLD));
    }

    @Test
    void leavesItToTheTransactionUnderExactlyOnce() {
        assertThat(AMBIGUOUS)
                .allSatisfy(failure -> assertThat(stock.onThrow(failure, Guarantee.EXACTLY_ONCE))
                        .isEqualTo(Disposition.UNDECIDED));
    }

    @ParameterizedTest
    @EnumSource(value = Guarantee.class, names = "AUTO", mode = Mode.EXCLUDE)
    void doesWithNamedFailuresAndTheirKindWhatTheirNameSays(Guarantee guarantee) {
        OutcomePolicy policy =
                new DefaultOutcomePolicy(List.of(IOException.class), List.of(UncheckedIOException.class, Error.class));

        assertThat(policy.onThrow(new FileNotFoundException(), guarantee)).isEqualTo(Disposition.STORE);
        assertThat(policy.onThrow(new UncheckedIOException(new IOException()), guarantee))
                .isEqualTo(Disposition.RELEASE);
        assertThat(policy.onThrow(new AssertionError(), guarantee)).isEqualTo(Disposition.RELEASE);
        assertThat(policy.onThrow(new IllegalStateException(), guarantee))
                .isEqualTo(stock.onThrow(new IllegalStateException(), guarantee));
    }
}
