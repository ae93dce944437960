package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.engine.DefaultOutcomePolicy;
import io.idempotency.spi.OutcomePolicy;
import io.idempotency.spi.OutcomePolicy.Disposition;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.TransactionTimedOutException;

/** The engine knows Spring's failures by name only: these names are right. */
class SpringFailuresTests {

    private final OutcomePolicy stock = new DefaultOutcomePolicy();

    static Stream<RuntimeException> thatLeaveTheOutcomeOpen() {
        return Stream.of(
                new QueryTimeoutException("statement"),
                new QueryTimeoutException("statement") {},
                new TransactionSystemException("commit"),
                new TransactionTimedOutException("deadline"),
                new IllegalStateException(new TransactionTimedOutException("deadline")));
    }

    @ParameterizedTest
    @MethodSource("thatLeaveTheOutcomeOpen")
    void holdTheKeyWhereTheWorkMayBeDone(RuntimeException failure) {
        assertThat(stock.onThrow(failure, Guarantee.AT_LEAST_ONCE)).isEqualTo(Disposition.HOLD);
    }

    @Test
    void doNotHoldTheKeyWhereTheyAreDefinite() {
        assertThat(List.of(new DuplicateKeyException("twice"), new CannotCreateTransactionException("no connection")))
                .allSatisfy(failure -> assertThat(stock.onThrow(failure, Guarantee.AT_LEAST_ONCE))
                        .isEqualTo(Disposition.UNDECIDED));
    }
}
