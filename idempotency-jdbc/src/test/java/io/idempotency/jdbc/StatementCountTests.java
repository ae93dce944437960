package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.LONG;
import static io.idempotency.jdbc.Requests.exactlyOnce;
import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leaseOf;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.result;
import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.RecordId;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Supplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;

/** What each path sends to PostgreSQL. Every statement is one round trip; its driver sends BEGIN together with the next one. */
// Alone, because the write-ahead log is one for all databases of a server.
@Isolated
class StatementCountTests {

    @AutoClose
    private static final TestDatabase database = TestDatabase.postgreSql();

    private final Traffic traffic = new Traffic(database.pool());
    private final JdbcTransactionManager manager = new JdbcTransactionManager(traffic);
    private final JdbcTemplate business = new JdbcTemplate(traffic);

    @Test
    void leasedFirstExecutionTakesTwoStatements() {
        JdbcIdempotencyStore store = store(ClaimMode.AUTO);
        RecordId id = freshId();

        ClaimResult claimed = store.tryClaim(leased(id));
        store.complete(leaseOf(claimed), result("first"), LONG);

        assertThat(traffic.take()).containsExactly("with", "with");
    }

    @Test
    void leasedReplayTakesOneStatement() {
        JdbcIdempotencyStore store = store(ClaimMode.AUTO);
        RecordId id = done(store);

        assertThat(store.tryClaim(leased(id))).isInstanceOf(ClaimResult.Done.class);

        assertThat(traffic.take()).containsExactly("with");
    }

    @Test
    void takeoverTakesTwoStatements() {
        JdbcIdempotencyStore store = store(ClaimMode.AUTO);
        RecordId id = freshId();
        ClaimRequest vanished = leased(id);
        store.tryClaim(vanished);
        database.execute("update idempotency_record set lease_until = 1");
        traffic.take();

        ClaimResult answer = store.tryClaim(leased(id).takingOverFrom(vanished.owner()));

        assertThat(leaseOf(answer).token()).isEqualTo(2);
        assertThat(traffic.take()).containsExactly("with", "with");
    }

    @Test
    void joinedFirstExecutionAddsTwoStatementsAndNoCommit() throws Throwable {
        JdbcIdempotencyStore store = store(ClaimMode.JOINED);

        assertThat(execute(store, exactlyOnce(freshId()), false)).isInstanceOf(ClaimResult.Claimed.class);

        assertThat(traffic.take()).containsExactly("select", "insert", "with", "commit");
    }

    // Case G: the inbox. What is known before the work has run is inserted by the claim, and nothing else is said.
    @Test
    void joinedFirstExecutionWithoutAResultAddsOneInsertAndNothingElse() throws Throwable {
        JdbcIdempotencyStore store = store(ClaimMode.JOINED);

        assertThat(record(store, exactlyOnce(freshId()), false)).isInstanceOf(ClaimResult.Claimed.class);

        assertThat(traffic.take()).containsExactly("with", "insert", "commit");
    }

    @Test
    void joinedReplayWithoutAResultTakesOneStatementAndTheRollback() throws Throwable {
        JdbcIdempotencyStore store = store(ClaimMode.JOINED);
        RecordId id = done(store);

        assertThat(record(store, exactlyOnce(id), false)).isInstanceOf(ClaimResult.Done.class);

        assertThat(traffic.take()).containsExactly("with", "rollback");
    }

    @Test
    void serializableFirstExecutionWithoutAResultInsertsOnceAfterTheReadOutside() throws Throwable {
        JdbcIdempotencyStore store = store(ClaimMode.JOINED);

        assertThat(record(store, exactlyOnce(freshId()), true)).isInstanceOf(ClaimResult.Claimed.class);

        assertThat(traffic.take())
                .filteredOn(sent -> !sent.endsWith("TransactionIsolation"))
                .containsExactly("select", "with", "insert", "commit");
    }

    @Test
    void separateFirstExecutionWithoutAResultUpdatesItsPlaceholderOnce() throws Throwable {
        JdbcIdempotencyStore store = store(ClaimMode.SEPARATE);

        assertThat(record(store, exactlyOnce(freshId()), false)).isInstanceOf(ClaimResult.Claimed.class);

        assertThat(traffic.take()).containsExactly("with", "with", "insert", "commit");
    }

    @Test
    void joinedReplayTakesOneStatementAndTheRollback() throws Throwable {
        JdbcIdempotencyStore store = store(ClaimMode.JOINED);
        RecordId id = done(store);

        assertThat(execute(store, exactlyOnce(id), false)).isInstanceOf(ClaimResult.Done.class);

        assertThat(traffic.take()).containsExactly("select", "rollback");
    }

    // Only the read before the transaction is added, so that the transaction itself reads nothing.
    @Test
    void serializableFirstExecutionReadsOutsideOfTheTransaction() throws Throwable {
        JdbcIdempotencyStore store = store(ClaimMode.JOINED);

        assertThat(execute(store, exactlyOnce(freshId()), true)).isInstanceOf(ClaimResult.Claimed.class);

        assertThat(traffic.take())
                .filteredOn(sent -> !sent.endsWith("TransactionIsolation"))
                .containsExactly("select", "with", "insert", "with", "commit");
    }

    @Test
    void separateFirstExecutionAddsThreeStatementsOfWhichOneCommits() throws Throwable {
        JdbcIdempotencyStore store = store(ClaimMode.SEPARATE);

        assertThat(execute(store, exactlyOnce(freshId()), false)).isInstanceOf(ClaimResult.Claimed.class);

        assertThat(traffic.take()).containsExactly("with", "with", "insert", "with", "commit");
    }

    @Test
    void separateReplayTakesOneStatementAndNoTransaction() throws Throwable {
        JdbcIdempotencyStore store = store(ClaimMode.SEPARATE);
        RecordId id = done(store);

        assertThat(execute(store, exactlyOnce(id), false)).isInstanceOf(ClaimResult.Done.class);

        assertThat(traffic.take()).containsExactly("with");
    }

    @Test
    void claimInAnOpenTransactionTakesTwoStatementsAndAReplayOne() throws Throwable {
        JdbcIdempotencyStore store = store(ClaimMode.AUTO);
        RecordId done = done(store);

        transactions(store, false).inNew(transaction -> {
            assertThat(store.claimInOpenTransaction(exactlyOnce(done))).isInstanceOf(ClaimResult.Done.class);
            assertThat(traffic.take()).containsExactly("select");
            assertThat(store.claimInOpenTransaction(exactlyOnce(freshId()))).isInstanceOf(ClaimResult.Claimed.class);
            assertThat(traffic.take()).containsExactly("select", "select");
            assertThat(store.recordDoneInOpenTransaction(exactlyOnce(freshId()), result("known")))
                    .isInstanceOf(ClaimResult.Claimed.class);
            assertThat(traffic.take()).containsExactly("select", "with");
            return true;
        });
    }

    @Test
    void replayWritesNoWriteAheadLog() throws Throwable {
        JdbcIdempotencyStore leased = store(ClaimMode.AUTO);
        JdbcIdempotencyStore joined = store(ClaimMode.JOINED);
        RecordId id = done(leased);
        leased.tryClaim(leased(id));

        assertWritesNothing(() -> leased.tryClaim(leased(id)));
        assertWritesNothing(() -> {
            try {
                record(joined, exactlyOnce(id), false);
                return execute(joined, exactlyOnce(id), false);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        });
    }

    // The server writes on its own account from time to time, so one quiet round is the proof.
    private static void assertWritesNothing(Supplier<ClaimResult> replay) throws SQLException {
        try (Connection connection = database.connect()) {
            for (int round = 0; round < 20; round++) {
                long before = position(connection);
                for (int i = 0; i < 20; i++) {
                    assertThat(replay.get()).isInstanceOf(ClaimResult.Done.class);
                }
                if (position(connection) == before) {
                    return;
                }
            }
        }
        throw new AssertionError("Every round of replays has written to the write-ahead log");
    }

    private static long position(Connection connection) throws SQLException {
        return TestDatabase.number(connection, "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn");
    }

    private JdbcIdempotencyStore store(ClaimMode mode) {
        JdbcIdempotencyStore store =
                JdbcIdempotencyStore.builder(traffic).claimMode(mode).build();
        store.find(freshId());
        traffic.take();
        return store;
    }

    private RecordId done(JdbcIdempotencyStore store) {
        RecordId id = freshId();
        store.complete(leaseOf(store.tryClaim(leased(id))), result("first"), LONG);
        traffic.take();
        return id;
    }

    private SpringBusinessTransactions transactions(JdbcIdempotencyStore store, boolean serializable) {
        DefaultTransactionAttribute attribute = new DefaultTransactionAttribute();
        if (serializable) {
            attribute.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
        }
        return new SpringBusinessTransactions(manager, attribute, store);
    }

    /** A call as the engine makes it. */
    private ClaimResult execute(JdbcIdempotencyStore store, ClaimRequest request, boolean serializable)
            throws Throwable {
        var early = store.beforeTransaction(request, serializable);
        if (early.isPresent()) {
            return early.get();
        }
        BusinessTransactions transactions = transactions(store, serializable);
        return transactions.inNew(transaction -> {
            ClaimResult answer = store.claimInTransaction(request, serializable);
            if (answer instanceof ClaimResult.Claimed claimed) {
                business.update("insert into business (text) values ('x')");
                store.completeInTransaction(claimed.lease(), result("first"), LONG);
            } else {
                transaction.setRollbackOnly();
            }
            return answer;
        });
    }

    /** The same where the result is known beforehand. */
    private ClaimResult record(JdbcIdempotencyStore store, ClaimRequest request, boolean serializable)
            throws Throwable {
        var early = store.beforeTransaction(request, serializable);
        if (early.isPresent()) {
            return early.get();
        }
        return transactions(store, serializable).inNew(transaction -> {
            ClaimResult answer = store.recordDoneInTransaction(request, result("known"), serializable);
            if (answer instanceof ClaimResult.Claimed) {
                business.update("insert into business (text) values ('x')");
            } else {
                transaction.setRollbackOnly();
            }
            return answer;
        });
    }
}
