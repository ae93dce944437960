package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.LONG;
import static io.idempotency.jdbc.Requests.exactlyOnce;
import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leaseOf;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.request;
import static io.idempotency.jdbc.Requests.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.Guarantee;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.WriteOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Something happens between the look at a record and the write to it, or somebody has locked it. */
class RaceTests {

    @AutoClose
    private static final TestDatabase h2 = TestDatabase.h2();

    @AutoClose
    private static final TestDatabase postgreSql = TestDatabase.postgreSql();

    private static TestDatabase database(String product) {
        return product.equals("H2") ? h2 : postgreSql;
    }

    // Case 6
    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void takeoverMeetsAResultThatJustCame(String product) {
        JdbcIdempotencyStore rival = store(database(product));
        Lease owner = abandoned(product);

        ClaimResult answer = takeOver(
                product,
                owner,
                () -> assertThat(rival.complete(owner, result("late"), LONG)).isEqualTo(WriteOutcome.APPLIED));

        assertThat(answer)
                .isInstanceOfSatisfying(
                        ClaimResult.Done.class,
                        done -> assertThat(done.result()).isEqualTo(result("late")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void takeoverMeetsARenewedLease(String product) {
        JdbcIdempotencyStore rival = store(database(product));
        Lease owner = abandoned(product);

        ClaimResult answer = takeOver(product, owner, () -> rival.renew(owner));

        assertThat(answer).isInstanceOf(ClaimResult.InProgress.class);
        assertThat(rival.find(owner.id()).orElseThrow().owner()).isEqualTo(owner.owner());
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void takeoverMeetsALeaseThatOutlivesItsRetention(String product) {
        TestDatabase database = database(product);
        Lease owner = abandoned(product);

        ClaimResult answer = takeOver(
                product,
                owner,
                () -> database.execute("update idempotency_record set expires_at = 1, lease_until = "
                        + Long.MAX_VALUE / 2 + " where lease_until = 1"));

        assertThat(answer).isInstanceOf(ClaimResult.InProgress.class);
        assertThat(store(database).find(owner.id()).orElseThrow().owner()).isEqualTo(owner.owner());
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void takeoverMeetsAnotherAbandonedOwner(String product) {
        JdbcIdempotencyStore rival = store(database(product));
        Lease owner = abandoned(product);
        ClaimRequest other = leased(owner.id()).takingOverFrom(owner.owner());

        ClaimResult answer = takeOver(product, owner, () -> {
            leaseOf(rival.tryClaim(other));
            endLeases(product);
        });

        assertThat(answer)
                .isInstanceOfSatisfying(
                        ClaimResult.Abandoned.class,
                        seen -> assertThat(seen.owner()).isEqualTo(other.owner()));
        assertThat(rival.find(owner.id()).orElseThrow().token()).isEqualTo(2);
    }

    // Case 11
    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void takeoverMeetsNothingAnyMore(String product) {
        JdbcIdempotencyStore rival = store(database(product));
        Lease owner = abandoned(product);

        ClaimResult answer = takeOver(product, owner, () -> rival.forget(owner.id()));

        assertThat(leaseOf(answer).token()).isEqualTo(1);
        assertThat(rival.find(owner.id()).orElseThrow().owner())
                .isEqualTo(leaseOf(answer).owner());
    }

    // Another node already runs a later version of the library.
    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void takeoverMeetsARecordOfALaterVersion(String product) {
        TestDatabase database = database(product);
        Lease owner = abandoned(product);

        ClaimResult answer = takeOver(
                product,
                owner,
                () -> database.execute("update idempotency_record set record_version = 2 where lease_until = 1"));

        assertThat(answer).isInstanceOf(ClaimResult.Unreadable.class);
        database.execute("update idempotency_record set record_version = 1 where record_version = 2");
        assertThat(store(database).find(owner.id()).orElseThrow().owner()).isEqualTo(owner.owner());
    }

    // An operator's session, or anything else that does not know the advisory locks.
    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void rowThatAStrangerHasLockedHoldsNobodyUp(String product) throws SQLException {
        TestDatabase database = database(product);
        JdbcIdempotencyStore joined = store(database);
        JdbcIdempotencyStore separate = JdbcIdempotencyStore.builder(database.pool())
                .claimMode(ClaimMode.SEPARATE)
                .build();
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(database.pool()));
        Lease live = leaseOf(joined.tryClaim(leased(freshId())));
        RecordId expired = freshId();
        joined.recordDone(request(expired, Guarantee.AT_LEAST_ONCE, LONG, Duration.ofMillis(1)), result("old"));
        RecordId placeholder = freshId();
        separate.beforeTransaction(exactlyOnce(placeholder), false);
        Lease abandoned = abandoned(product);
        try (Connection stranger = database.connect();
                Statement statement = stranger.createStatement()) {
            stranger.setAutoCommit(false);
            statement.execute("select * from idempotency_record for update");

            assertAtOnce(() -> assertThat(joined.tryClaim(leased(expired))).isEqualTo(Row.HELD));
            assertAtOnce(() -> assertThat(joined.tryClaim(leased(placeholder))).isEqualTo(Row.HELD));
            assertAtOnce(() -> assertThat(joined.tryClaim(leased(abandoned.id()).takingOverFrom(abandoned.owner())))
                    .isEqualTo(Row.HELD));
            assertAtOnce(() -> assertThat(joined.recordDone(leased(placeholder), result("mine")))
                    .isEqualTo(Row.HELD));
            assertAtOnce(() -> assertLocked(() -> joined.complete(live, result("mine"), LONG)));
            assertAtOnce(() -> assertLocked(() -> joined.renew(live)));
            assertAtOnce(() -> assertLocked(() -> joined.release(live)));
            assertAtOnce(() -> assertThat(joined.forget(live.id())).isFalse());
            assertAtOnce(() -> assertThat(joined.purgeExpired(10)).isZero());
            assertAtOnce(() -> separate.afterRollback(new Lease(exactlyOnce(placeholder), 1)));
            for (RecordId id : new RecordId[] {placeholder, expired}) {
                assertAtOnce(() -> transaction.executeWithoutResult(
                        status -> assertThat(separate.claimInTransaction(exactlyOnce(id), false))
                                .isInstanceOf(ClaimResult.Contended.class)));
            }
            assertAtOnce(() -> transaction.executeWithoutResult(
                    status -> assertThat(joined.claimInOpenTransaction(exactlyOnce(placeholder)))
                            .isEqualTo(Row.HELD)));
            stranger.rollback();
        }

        assertThat(joined.complete(live, result("mine"), LONG)).isEqualTo(WriteOutcome.APPLIED);
        assertThat(joined.tryClaim(leased(placeholder))).isInstanceOf(ClaimResult.Claimed.class);
    }

    private static JdbcIdempotencyStore store(TestDatabase database) {
        return JdbcIdempotencyStore.builder(database.pool()).build();
    }

    private static Lease abandoned(String product) {
        Lease lease = leaseOf(store(database(product)).tryClaim(leased(freshId())));
        endLeases(product);
        return lease;
    }

    private static void endLeases(String product) {
        database(product)
                .execute("update idempotency_record set lease_until = 1 where state = 'P' and lease_until is not null");
    }

    /** A takeover in whose way something comes after its look. */
    private static ClaimResult takeOver(String product, Lease seen, Runnable meanwhile) {
        Wires wires = new Wires(database(product).pool()) {

            private boolean done;

            @Override
            void onExecute(String sql) {
                if (!done && sql.contains("skip locked")) {
                    done = true;
                    meanwhile.run();
                }
            }
        };
        return JdbcIdempotencyStore.builder(wires)
                .build()
                .tryClaim(leased(seen.id()).takingOverFrom(seen.owner()));
    }

    private static void assertLocked(Runnable write) {
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(write::run)
                .withMessageContaining("locked");
    }

    private static void assertAtOnce(Runnable call) {
        long start = System.nanoTime();
        call.run();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(3));
    }
}
