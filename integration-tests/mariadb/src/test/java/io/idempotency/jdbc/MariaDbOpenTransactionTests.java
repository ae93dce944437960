package io.idempotency.jdbc;

import static io.idempotency.jdbc.ApplicationTransactions.add;
import static io.idempotency.jdbc.ApplicationTransactions.inTransaction;
import static io.idempotency.jdbc.Bench.onAnotherThread;
import static io.idempotency.jdbc.Requests.LONG;
import static io.idempotency.jdbc.Requests.exactlyOnce;
import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leaseOf;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.TransactionConflictException;
import io.idempotency.spi.WriteOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;

/** Transactions of the application, under the locks and snapshots of InnoDB. */
class MariaDbOpenTransactionTests {

    @AutoClose
    private static final TestDatabase database = TestDatabase.of(MariaDbDriver.NAME);

    // Case 41
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8})
    void duplicateLeavesTheTransactionAsItWas(int isolation) {
        JdbcIdempotencyStore store = store(database.pool());
        RecordId done = freshId();
        store.recordDone(leased(done), result("first"));
        RecordId processing = freshId();
        store.tryClaim(leased(processing));

        for (RecordId id : List.of(done, processing)) {
            String row = UUID.randomUUID().toString();
            inTransaction(database.pool(), isolation, jdbc -> {
                add(jdbc, row);
                assertThat(store.claimInOpenTransaction(exactlyOnce(id)))
                        .isInstanceOf(id.equals(done) ? ClaimResult.Done.class : ClaimResult.InProgress.class);
                add(jdbc, row);
            });
            assertThat(database.businessRows(row)).isEqualTo(2);
        }
    }

    // The inbox: what is known before the work has run is inserted by the claim, and nothing else is said.
    @Test
    void resultThatIsKnownBeforehandIsOneInsert() {
        Traffic traffic = new Traffic(database.pool());
        JdbcIdempotencyStore store = JdbcIdempotencyStore.builder(traffic)
                .claimMode(ClaimMode.JOINED)
                .build();
        store.find(freshId());
        RecordId id = freshId();

        inTransaction(traffic, Connection.TRANSACTION_READ_COMMITTED, jdbc -> {
            traffic.take();
            assertThat(store.recordDoneInTransaction(exactlyOnce(id), result("known"), false))
                    .isInstanceOf(ClaimResult.Claimed.class);
            assertThat(traffic.take()).containsExactly("set");
        });

        assertThat(store.tryClaim(leased(id))).isInstanceOf(ClaimResult.Done.class);
    }

    // Case 45: a locking read sees what the snapshot does not.
    @Test
    void winnerBehindTheSnapshotIsReplayed() {
        JdbcIdempotencyStore store = store(database.pool());
        RecordId done = freshId();
        RecordId processing = freshId();
        String row = UUID.randomUUID().toString();

        inTransaction(database.pool(), Connection.TRANSACTION_REPEATABLE_READ, jdbc -> {
            add(jdbc, row);
            jdbc.queryForList("select * from business");
            onAnotherThread(() -> store.recordDone(leased(done), result("winner")));
            onAnotherThread(() -> store.tryClaim(leased(processing)));

            assertThat(store.claimInOpenTransaction(exactlyOnce(done)))
                    .isInstanceOfSatisfying(
                            ClaimResult.Done.class,
                            answer -> assertThat(answer.result()).isEqualTo(result("winner")));
            assertThat(store.claimInOpenTransaction(exactlyOnce(processing)))
                    .isInstanceOf(ClaimResult.InProgress.class);
            add(jdbc, row);
        });

        assertThat(database.businessRows(row)).isEqualTo(2);
    }

    // Case 45, with the setting that is the default since MariaDB 11.6.2: the server rolls back all of it, so that
    // what comes after must not be committed alone.
    @Test
    void snapshotThatIsTooOldEndsTheTransactionAsAWhole() {
        DataSource strict = strict();
        RecordId id = RecordId.of(Requests.OPERATION, "", UUID.randomUUID().toString());
        try (Bench bench = new Bench(strict, ClaimMode.AUTO)) {
            String key = UUID.randomUUID().toString();
            String row = UUID.randomUUID().toString();

            assertThatExceptionOfType(UnexpectedRollbackException.class)
                    .isThrownBy(() -> inTransaction(strict, Connection.TRANSACTION_REPEATABLE_READ, jdbc -> {
                        add(jdbc, row);
                        jdbc.queryForList("select * from business");
                        onAnotherThread(() -> bench.pay(key, "winner"));
                        assertThatExceptionOfType(TransactionConflictException.class)
                                .isThrownBy(() -> bench.pay(key, "loser"));
                        add(jdbc, row);
                    }));

            assertThat(database.businessRows(row)).isZero();
            assertThat(database.businessRows(key)).isEqualTo(1);
            assertThat(bench.pay(key, "later")).isEqualTo("winner");
        }
        assertThat(store(strict).find(id)).isEmpty();
    }

    @Test
    void strictSnapshotsDoNotDisturbTransactionsOfTheLibrary() {
        DataSource strict = strict();
        for (ClaimMode mode : List.of(ClaimMode.JOINED, ClaimMode.SEPARATE)) {
            for (int isolation : new int[] {TransactionDefinition.ISOLATION_DEFAULT, 4}) {
                try (Bench bench = new Bench(strict, mode, isolation, java.time.Duration.ofSeconds(2))) {
                    String key = UUID.randomUUID().toString();

                    List<String> answers = Bench.race(8, index -> {
                        while (true) {
                            try {
                                return bench.payPatiently(key, "answer of " + index)
                                        .answer();
                            } catch (TransactionConflictException e) {
                                assertThat(isolation).isEqualTo(4);
                            }
                        }
                    });

                    assertThat(answers).containsOnly(answers.get(0));
                    assertThat(database.businessRows(key)).isEqualTo(1);
                }
            }
        }
    }

    private static DataSource strict() {
        return database.pool(config -> {
            config.setConnectionInitSql("set session innodb_snapshot_isolation = 1");
            config.setMaximumPoolSize(10);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8})
    void freshKeyIsClaimedAndDoneAtEveryIsolation(int isolation) {
        JdbcIdempotencyStore store = store(database.pool());
        RecordId id = freshId();

        inTransaction(database.pool(), isolation, jdbc -> {
            jdbc.queryForList("select * from business where text = 'nothing'");
            Lease lease = leaseOf(store.claimInOpenTransaction(exactlyOnce(id)));
            assertThat(store.completeInTransaction(lease, result("mine"), LONG)).isEqualTo(WriteOutcome.APPLIED);
        });

        assertThat(store.tryClaim(leased(id))).isInstanceOf(ClaimResult.Done.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void refusalLocksNothing(int isolation) {
        JdbcIdempotencyStore store = store(database.pool());
        RecordId id = freshId();
        Lease owner = leaseOf(store.tryClaim(leased(id)));

        inTransaction(database.pool(), isolation, jdbc -> {
            assertThat(store.claimInOpenTransaction(exactlyOnce(id))).isInstanceOf(ClaimResult.InProgress.class);
            onAnotherThread(() ->
                    assertThat(store.complete(owner, result("owner"), LONG)).isEqualTo(WriteOutcome.APPLIED));
        });
    }

    // Under READ UNCOMMITTED a plain read shows what may never be committed.
    @Test
    void uncommittedResultIsNeverAnAnswer() {
        JdbcIdempotencyStore store = store(database.pool());
        HikariDataSource dirty =
                database.pool(config -> config.setTransactionIsolation("TRANSACTION_READ_UNCOMMITTED"));
        JdbcIdempotencyStore dirtyStore = store(dirty);
        RecordId id = freshId();

        inTransaction(database.pool(), Connection.TRANSACTION_READ_COMMITTED, jdbc -> {
            Lease lease = leaseOf(store.claimInOpenTransaction(exactlyOnce(id)));
            store.completeInTransaction(lease, result("not yet"), LONG);
            onAnotherThread(() -> {
                assertThat(dirtyStore.tryClaim(leased(id))).isInstanceOf(ClaimResult.InProgress.class);
                assertThat(dirtyStore.find(id)).isEmpty();
                assertThat(dirtyStore.beforeTransaction(exactlyOnce(id), false)).isEmpty();
                inTransaction(
                        database.pool(),
                        Connection.TRANSACTION_READ_UNCOMMITTED,
                        other -> assertThat(store.claimInOpenTransaction(exactlyOnce(id)))
                                .isInstanceOf(ClaimResult.InProgress.class));
            });
        });

        assertThat(dirtyStore.tryClaim(leased(id))).isInstanceOf(ClaimResult.Done.class);
    }

    // A locking read of what is not there would lock the gap between its neighbours, against everybody else.
    @ParameterizedTest
    @CsvSource({"JOINED, -1", "JOINED, 4", "JOINED, 8", "SEPARATE, -1", "SEPARATE, 4", "SEPARATE, 8"})
    void strangersDoNotWaitForEachOther(ClaimMode mode, int isolation) {
        try (TestDatabase empty = TestDatabase.of(MariaDbDriver.NAME);
                Bench bench = new Bench(empty.pool(), mode, isolation, java.time.Duration.ofSeconds(2))) {
            int threads = 8;
            String prefix = UUID.randomUUID().toString();
            CyclicBarrier allHaveClaimed = new CyclicBarrier(threads);

            Bench.race(
                    threads,
                    index -> bench.pay(prefix + index, "done", () -> {
                        try {
                            allHaveClaimed.await(20, TimeUnit.SECONDS);
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        }
                    }));

            assertThat(empty.number("select count(*) from business where text like '" + prefix + "%'"))
                    .isEqualTo(threads);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void strangersInOpenTransactionsDoNotWaitForEachOther(int isolation) {
        try (TestDatabase empty = TestDatabase.of(MariaDbDriver.NAME)) {
            JdbcIdempotencyStore store = store(empty.pool());
            int threads = 8;
            CyclicBarrier allHaveClaimed = new CyclicBarrier(threads);

            Bench.race(threads, index -> {
                inTransaction(empty.pool(), isolation, jdbc -> {
                    Lease lease = leaseOf(store.claimInOpenTransaction(exactlyOnce(freshId())));
                    try {
                        allHaveClaimed.await(20, TimeUnit.SECONDS);
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                    store.completeInTransaction(lease, result("done"), LONG);
                });
                return true;
            });

            assertThat(empty.number("select count(*) from idempotency_record where state = 'D'"))
                    .isEqualTo(threads);
        }
    }

    // InnoDB has rolled back everything, the claim too, and goes on in a new transaction as if nothing had happened.
    @ParameterizedTest
    @CsvSource({"JOINED", "SEPARATE"})
    void deadlockThatTheActionSwallowsBecomesNoResult(ClaimMode mode) throws Exception {
        database.execute("create table if not exists pair (id int primary key, value int) engine = InnoDB");
        database.execute("replace into pair values (1, 0), (2, 0)");
        try (Bench bench = new Bench(database.pool(), mode);
                Connection other = database.connect()) {
            other.setAutoCommit(false);
            for (int i = 0; i < 3; i++) {
                // The transaction that has written less is the victim.
                other.createStatement().execute("insert into business select repeat('x', 50) from seq_1_to_50");
            }
            String key = UUID.randomUUID().toString();

            ThrowingCallable call = () -> bench.pay(key, "first", () -> {
                bench.jdbc().update("update pair set value = 1 where id = 1");
                try {
                    other.createStatement().execute("update pair set value = 2 where id = 2");
                    Thread waiter = new Thread(() -> {
                        try {
                            other.createStatement().execute("update pair set value = 2 where id = 1");
                        } catch (SQLException e) {
                            throw new IllegalStateException(e);
                        }
                    });
                    waiter.start();
                    database.await("select count(*) from information_schema.innodb_trx"
                            + " where trx_state = 'LOCK WAIT' and trx_query like 'update pair %'");
                    bench.jdbc().update("update pair set value = 1 where id = 2");
                } catch (DataAccessException swallowed) {
                    // As an application does that only wants to go on.
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
                bench.jdbc().update("insert into business (text) values (?)", key);
            });

            assertThatExceptionOfType(RuntimeException.class).isThrownBy(call);
            other.rollback();
            assertThat(database.businessRows(key)).isZero();
            assertThat(bench.pay(key, "second")).isEqualTo("second");
            assertThat(database.businessRows(key)).isEqualTo(1);
        }
    }

    private static JdbcIdempotencyStore store(DataSource dataSource) {
        return JdbcIdempotencyStore.builder(dataSource).build();
    }
}
