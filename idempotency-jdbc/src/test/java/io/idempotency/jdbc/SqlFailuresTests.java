package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.LONG;
import static io.idempotency.jdbc.Requests.exactlyOnce;
import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leaseOf;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.Guarantee;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.TransactionConflictException;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

class SqlFailuresTests {

    // Case 47: the driver's texts and exception classes are of no use here, and the store does not miss them.
    @ParameterizedTest
    @MethodSource("io.idempotency.jdbc.TestDatabase#products")
    void duplicateIsRecognisedWithoutTextAndClass(String product) {
        try (TestDatabase database = TestDatabase.of(product)) {
            DataSource mute = new Wires(database.pool()) {
                @Override
                SQLException onFailure(SQLException failure) {
                    return new SQLException("étourdi", failure.getSQLState(), failure.getErrorCode());
                }
            };
            for (ClaimMode mode : new ClaimMode[] {ClaimMode.JOINED, ClaimMode.SEPARATE}) {
                JdbcIdempotencyStore store =
                        JdbcIdempotencyStore.builder(mute).claimMode(mode).build();
                RecordId held = freshId();
                TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(mute));
                transaction.executeWithoutResult(status -> {
                    assertThat(store.claimInOpenTransaction(exactlyOnce(held))).isInstanceOf(ClaimResult.Claimed.class);
                    Bench.race(1, index -> {
                        assertThat(store.tryClaim(leased(held)))
                                .isEqualTo(new ClaimResult.InProgress(Fingerprint.NONE, null));
                        transaction.executeWithoutResult(
                                other -> assertThat(store.claimInOpenTransaction(exactlyOnce(held)))
                                        .isEqualTo(new ClaimResult.InProgress(Fingerprint.NONE, null)));
                        return true;
                    });
                    store.completeInTransaction(
                            leaseOf(store.claimInOpenTransaction(exactlyOnce(freshId()))), result("mine"), LONG);
                });
            }
        }
    }

    // Cases 47 and 54: what does not fit is an error, neither cut off nor taken for a duplicate.
    @ParameterizedTest
    @MethodSource("io.idempotency.jdbc.TestDatabase#productsAndModes")
    void otherViolationsSurfaceAsErrors(String product, ClaimMode mode) {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore store = JdbcIdempotencyStore.builder(database.pool())
                    .claimMode(mode)
                    .build();
            ClaimRequest fits = ofOperation("o".repeat(190));
            ClaimRequest tooLong = ofOperation("o".repeat(191));

            assertThat(store.tryClaim(fits)).isInstanceOf(ClaimResult.Claimed.class);
            assertThat(store.find(fits.id()).orElseThrow().operation()).isEqualTo(fits.operation());
            assertThatExceptionOfType(DataIntegrityViolationException.class)
                    .isThrownBy(() -> store.tryClaim(tooLong))
                    .withMessageNotContaining(tooLong.owner().value().toString());
            assertThat(store.find(tooLong.id())).isEmpty();

            database.execute("alter table idempotency_record add column extra varchar(10) default '' not null");
            database.execute("alter table idempotency_record alter column extra drop default");
            assertThatExceptionOfType(DataIntegrityViolationException.class)
                    .isThrownBy(() -> store.tryClaim(leased(freshId())));
            assertThatExceptionOfType(DataIntegrityViolationException.class)
                    .isThrownBy(() -> store.recordDone(leased(freshId()), result("first")));
        }
    }

    @ParameterizedTest
    @MethodSource("io.idempotency.jdbc.TestDatabase#products")
    void missingTableIsAnErrorAndNotAnAnswer(String product) {
        try (TestDatabase database = TestDatabase.of(product)) {
            JdbcIdempotencyStore store =
                    JdbcIdempotencyStore.builder(database.pool()).build();
            database.execute("drop table idempotency_record");

            assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> store.tryClaim(leased(freshId())));
            assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> store.find(freshId()));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "40001, 0",
        "40P01, 0",
        "40001, 1213",
        "HY000, 1020",
        "HY000, 1205",
        "HYT00, 50200",
        "HY000, 3572",
    })
    void conflictsInATransactionAreToldApart(String state, int code) {
        assertThat(SqlFailures.inTransaction("task", new SQLException("", state, code)))
                .isInstanceOf(TransactionConflictException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"08006", "08003", "57014", "57P01", "53300", "XX000", "HY000", "90067", "25006"})
    void everythingThatCannotBeKnownIsUnavailable(String state) {
        SQLException failure = new SQLException("", state);

        assertThat(SqlFailures.outside("task", failure)).isInstanceOf(StoreUnavailableException.class);
        assertThat(SqlFailures.inTransaction("task", failure)).isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void failureWithoutAStateIsUnavailable() {
        assertThat(SqlFailures.outside("task", new SQLException("no state")))
                .isInstanceOf(StoreUnavailableException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"23502", "22001", "42601", "42501", "54000", "25P02", "0A000"})
    void whatTheDatabaseRefusesIsAnError(String state) {
        SQLException failure = new SQLException("", state);

        assertThat(SqlFailures.outside("task", failure)).isInstanceOf(DataAccessException.class);
        assertThat(SqlFailures.inTransaction("task", failure)).isInstanceOf(DataAccessException.class);
    }

    private static ClaimRequest ofOperation(String operation) {
        return new ClaimRequest(
                freshId(),
                operation,
                Guarantee.AT_LEAST_ONCE,
                new Owner(UUID.randomUUID()),
                Fingerprint.NONE,
                LONG,
                LONG,
                null);
    }
}
