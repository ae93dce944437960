package io.idempotency.jdbc;

import static io.idempotency.jdbc.ApplicationTransactions.ISOLATIONS;
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
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.WriteOutcome;
import java.sql.Connection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

class OpenTransactionTests {

    @AutoClose
    private static final TestDatabase h2 = TestDatabase.h2();

    @AutoClose
    private static final TestDatabase postgreSql = TestDatabase.postgreSql();

    private static TestDatabase database(String product) {
        return product.equals("H2") ? h2 : postgreSql;
    }

    // Case 41: the refusal and the replay leave the application's transaction as it was.
    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void duplicateDoesNotAbortTheTransactionOfTheApplication(String product) {
        TestDatabase database = database(product);
        JdbcIdempotencyStore store = store(database.pool());
        RecordId done = freshId();
        store.complete(leaseOf(store.tryClaim(leased(done))), result("first"), LONG);
        RecordId processing = freshId();
        store.tryClaim(leased(processing));

        for (RecordId id : List.of(done, processing)) {
            String row = UUID.randomUUID().toString();
            inTransaction(database.pool(), Connection.TRANSACTION_READ_COMMITTED, jdbc -> {
                add(jdbc, row);
                assertThat(store.claimInOpenTransaction(exactlyOnce(id))).isNotInstanceOf(ClaimResult.Claimed.class);
                add(jdbc, row);
            });
            assertThat(database.businessRows(row)).isEqualTo(2);
        }
    }

    // Case 45: the winner committed after the snapshot, so that it cannot be read and must not be run again.
    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void winnerBehindTheSnapshotIsNeitherRunAgainNorFatal(String product) {
        TestDatabase database = database(product);
        JdbcIdempotencyStore store = store(database.pool());
        for (int isolation : new int[] {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE}) {
            RecordId id = freshId();
            String row = UUID.randomUUID().toString();

            inTransaction(database.pool(), isolation, jdbc -> {
                jdbc.queryForList("select * from business");
                jdbc.queryForList("select * from idempotency_record where operation = 'nothing'");
                onAnotherThread(() -> store.complete(leaseOf(store.tryClaim(leased(id))), result("winner"), LONG));

                ClaimResult answer = store.claimInOpenTransaction(exactlyOnce(id));

                assertThat(answer).isInstanceOfAny(ClaimResult.Contended.class, ClaimResult.InProgress.class);
                add(jdbc, row);
            });
            assertThat(database.businessRows(row)).isEqualTo(1);
            assertThat(store.tryClaim(leased(id))).isInstanceOf(ClaimResult.Done.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void freshKeyIsClaimedAndDoneAtEveryIsolation(String product) {
        TestDatabase database = database(product);
        JdbcIdempotencyStore store = store(database.pool());
        for (int isolation : ISOLATIONS) {
            RecordId id = freshId();
            inTransaction(database.pool(), isolation, jdbc -> {
                jdbc.queryForList("select * from business");
                Lease lease = leaseOf(store.claimInOpenTransaction(exactlyOnce(id)));
                assertThat(store.completeInTransaction(lease, result("mine"), LONG))
                        .isEqualTo(WriteOutcome.APPLIED);
            });
            assertThat(store.tryClaim(leased(id))).isInstanceOf(ClaimResult.Done.class);
        }
    }

    // Under SERIALIZABLE a read of what is absent makes strangers conflict whose keys are its neighbours.
    @Test
    void strangersInOpenSerializableTransactionsDoNotConflict() {
        try (TestDatabase empty = TestDatabase.postgreSql()) {
            JdbcIdempotencyStore store = store(empty.pool());
            int threads = 8;
            CyclicBarrier allHaveClaimed = new CyclicBarrier(threads);

            Bench.race(threads, index -> {
                inTransaction(empty.pool(), Connection.TRANSACTION_SERIALIZABLE, jdbc -> {
                    Lease lease = leaseOf(store.claimInOpenTransaction(exactlyOnce(freshId())));
                    await(allHaveClaimed);
                    store.completeInTransaction(lease, result("done"), LONG);
                });
                return true;
            });

            assertThat(empty.number("select count(*) from idempotency_record where state = 'D'"))
                    .isEqualTo(threads);
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(30, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    // A rollback to a savepoint lets go of the key as well; what others make of it meanwhile is theirs.
    @ParameterizedTest
    @CsvSource({
        "H2, leased",
        "H2, placeholder",
        "H2, done",
        "PostgreSQL, leased",
        "PostgreSQL, placeholder",
        "PostgreSQL, done"
    })
    void claimThatWasRolledBackToASavepointIsLostToOthers(String product, String others) {
        TestDatabase database = database(product);
        JdbcIdempotencyStore store = store(database.pool());
        RecordId id = freshId();

        inTransaction(database.pool(), Connection.TRANSACTION_READ_COMMITTED, jdbc -> {
            jdbc.execute("savepoint before_claim");
            Lease lease = leaseOf(store.claimInOpenTransaction(exactlyOnce(id)));
            jdbc.execute("rollback to savepoint before_claim");
            onAnotherThread(() -> {
                switch (others) {
                    case "leased" -> leaseOf(store.tryClaim(leased(id)));
                    case "placeholder" ->
                        assertThat(JdbcIdempotencyStore.builder(database.pool())
                                        .claimMode(ClaimMode.SEPARATE)
                                        .build()
                                        .beforeTransaction(exactlyOnce(id), false))
                                .isEmpty();
                    default -> leaseOf(store.recordDone(leased(id), result("theirs")));
                }
            });

            assertThat(store.completeInTransaction(lease, result("mine"), LONG)).isEqualTo(WriteOutcome.LOST);
        });
    }

    // One server, two services with a table each.
    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void keyOfAnotherTableIsAnotherKey(String product) {
        TestDatabase database = database(product);
        JdbcIdempotencyStore store = store(database.pool());
        JdbcIdempotencyStore other = JdbcIdempotencyStore.builder(database.pool())
                .tableName("other_record")
                .build();
        other.schema().createIfMissing();
        RecordId id = freshId();

        inTransaction(database.pool(), Connection.TRANSACTION_READ_COMMITTED, jdbc -> {
            leaseOf(store.claimInOpenTransaction(exactlyOnce(id)));
            onAnotherThread(() -> inTransaction(
                    database.pool(),
                    Connection.TRANSACTION_READ_COMMITTED,
                    others -> assertThat(other.claimInOpenTransaction(exactlyOnce(id)))
                            .isInstanceOf(ClaimResult.Claimed.class)));
        });
    }

    // A result that was stored with its claim is there while the work runs, and may never be committed.
    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void uncommittedResultIsNoAnswerAtAnyIsolation(String product) {
        TestDatabase database = database(product);
        JdbcIdempotencyStore store = store(database.pool());
        for (int isolation : new int[] {
            Connection.TRANSACTION_READ_UNCOMMITTED,
            Connection.TRANSACTION_READ_COMMITTED,
            Connection.TRANSACTION_REPEATABLE_READ,
            Connection.TRANSACTION_SERIALIZABLE
        }) {
            RecordId id = freshId();
            inTransaction(database.pool(), Connection.TRANSACTION_READ_COMMITTED, first -> {
                assertThat(store.recordDoneInOpenTransaction(exactlyOnce(id), result("first")))
                        .isInstanceOf(ClaimResult.Claimed.class);
                onAnotherThread(() -> inTransaction(
                        database.pool(),
                        isolation,
                        second -> assertThat(store.recordDoneInOpenTransaction(exactlyOnce(id), result("second")))
                                .isInstanceOfAny(ClaimResult.InProgress.class, ClaimResult.Contended.class)));
            });
            assertThat(store.tryClaim(leased(id)))
                    .isInstanceOfSatisfying(
                            ClaimResult.Done.class,
                            done -> assertThat(done.result()).isEqualTo(result("first")));
        }
    }

    // A refusal inside a transaction that stays open must not keep the record locked for its owner.
    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void refusalLocksNothing(String product) {
        TestDatabase database = database(product);
        JdbcIdempotencyStore store = store(database.pool());
        for (int isolation : ISOLATIONS) {
            RecordId id = freshId();
            Lease owner = leaseOf(store.tryClaim(leased(id)));

            inTransaction(database.pool(), isolation, jdbc -> {
                assertThat(store.claimInOpenTransaction(exactlyOnce(id))).isInstanceOf(ClaimResult.InProgress.class);
                onAnotherThread(() ->
                        assertThat(store.complete(owner, result("owner"), LONG)).isEqualTo(WriteOutcome.APPLIED));
            });
        }
    }

    // The lock timeout of zero is ours; what the application runs after the claim waits as it always did.
    @Test
    void settingsOfTheConnectionAreUnchangedAfterAClaimOnH2() {
        JdbcIdempotencyStore store = store(h2.pool());
        inTransaction(h2.pool(), Connection.TRANSACTION_READ_COMMITTED, jdbc -> {
            jdbc.execute("set lock_timeout 1234");
            String row = UUID.randomUUID().toString();
            add(jdbc, row);

            store.completeInTransaction(
                    leaseOf(store.claimInOpenTransaction(exactlyOnce(freshId()))), result("mine"), LONG);

            assertThat(jdbc.queryForObject("call lock_timeout()", Integer.class))
                    .isEqualTo(1234);
            assertThat(h2.businessRows(row))
                    .as("nothing was committed by the way")
                    .isZero();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void swallowedErrorsOfTheApplicationDoNotBecomeAResult(String product) {
        TestDatabase database = database(product);
        JdbcIdempotencyStore store = store(database.pool());
        database.execute("create table if not exists single (id int primary key)");
        RecordId id = freshId();

        inTransaction(database.pool(), Connection.TRANSACTION_READ_COMMITTED, jdbc -> {
            Lease lease = leaseOf(store.claimInOpenTransaction(exactlyOnce(id)));
            try {
                jdbc.update("insert into single (id) values (1), (1)");
            } catch (DataAccessException swallowed) {
                // On PostgreSQL the transaction can only be rolled back now, and its commit will not say so.
            }
            if (database.isH2()) {
                store.completeInTransaction(lease, result("mine"), LONG);
            } else {
                assertThatExceptionOfType(DataAccessException.class)
                        .isThrownBy(() -> store.completeInTransaction(lease, result("mine"), LONG));
            }
        });

        assertThat(store.find(id).isPresent()).isEqualTo(database.isH2());
    }

    @ParameterizedTest
    @ValueSource(strings = {"H2", "PostgreSQL"})
    void transactionOfAnotherDatabaseIsRefused(String product) {
        TestDatabase database = database(product);
        JdbcIdempotencyStore store = store(database.pool());
        DataSource other = (database == h2 ? postgreSql : h2).pool();

        inTransaction(
                other,
                Connection.TRANSACTION_READ_COMMITTED,
                jdbc -> assertThatIllegalStateException()
                        .isThrownBy(() -> store.claimInTransaction(exactlyOnce(freshId()), false))
                        .withMessageContaining("DataSource"));
    }

    @Test
    void threadWithoutTransactionIsRefused() {
        JdbcIdempotencyStore store = store(h2.pool());

        assertThatIllegalStateException()
                .isThrownBy(() -> store.claimInOpenTransaction(exactlyOnce(freshId())))
                .withMessageContaining("No transaction");
    }

    @ParameterizedTest
    @ValueSource(strings = {"transaction-aware", "nested", "lazy", "manager on the target", "manager on a proxy"})
    void proxiesOfTheSameDataSourceAreSeenThrough(String arrangement) {
        DataSource target = postgreSql.pool();
        DataSource ofStore =
                switch (arrangement) {
                    case "transaction-aware" -> new TransactionAwareDataSourceProxy(target);
                    case "nested" -> new LazyConnectionDataSourceProxy(new TransactionAwareDataSourceProxy(target));
                    case "lazy" -> new LazyConnectionDataSourceProxy(target);
                    case "manager on the target" -> new LazyConnectionDataSourceProxy(target);
                    default -> target;
                };
        DataSource ofManager =
                switch (arrangement) {
                    case "nested", "manager on the target" -> target;
                    case "manager on a proxy" -> new LazyConnectionDataSourceProxy(target);
                    default -> ofStore;
                };
        PlatformTransactionManager manager = new DataSourceTransactionManager(ofManager);
        JdbcIdempotencyStore store = store(ofStore);
        RecordId rolledBack = freshId();
        RecordId leased = freshId();

        new TransactionTemplate(manager).executeWithoutResult(status -> {
            store.completeInTransaction(
                    leaseOf(store.claimInTransaction(exactlyOnce(rolledBack), false)), result("mine"), LONG);
            assertThat(store.tryClaim(leased(leased))).isInstanceOf(ClaimResult.Claimed.class);
            status.setRollbackOnly();
        });

        assertThat(SpringBusinessTransactions.obstacle(manager, ofStore)).isEmpty();
        assertThat(store.find(rolledBack)).isEmpty();
        assertThat(store.find(leased)).as("a leased claim is on its own").isPresent();
    }

    @Test
    void leasedClaimInsideATransactionIsReportedOncePerOperation() {
        JdbcIdempotencyStore store = store(h2.pool());

        List<ILoggingEvent> events = Logs.of(JdbcIdempotencyStore.class, () -> {
            store.tryClaim(leased(freshId()));
            inTransaction(h2.pool(), Connection.TRANSACTION_READ_COMMITTED, jdbc -> {
                store.tryClaim(leased(freshId()));
                store.tryClaim(leased(freshId()));
            });
        });

        assertThat(events)
                .singleElement()
                .extracting(ILoggingEvent::getFormattedMessage)
                .asString()
                .contains(Requests.OPERATION, "inside an open transaction");
    }

    private static JdbcIdempotencyStore store(DataSource dataSource) {
        return JdbcIdempotencyStore.builder(dataSource).build();
    }
}
