package io.idempotency.jdbc;

import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionalStore;
import io.idempotency.test.TransactionalStoreFixture;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;

/** The store on a database, for the contracts. */
final class JdbcFixture implements TransactionalStoreFixture {

    private final TestDatabase database;
    private final ClaimMode mode;
    private final Cuttable dataSource;
    private final JdbcIdempotencyStore store;
    private final JdbcIdempotencyStore otherNode;
    private final JdbcTransactionManager manager;
    private final JdbcTemplate jdbc;

    JdbcFixture(TestDatabase database, ClaimMode mode) {
        this.database = database;
        this.mode = mode;
        this.dataSource = new Cuttable(database);
        this.store = JdbcIdempotencyStore.builder(dataSource)
                .claimMode(mode)
                .queryTimeout(java.time.Duration.ofSeconds(2))
                .build();
        this.otherNode =
                JdbcIdempotencyStore.builder(database.pool()).claimMode(mode).build();
        this.manager = new JdbcTransactionManager(dataSource);
        this.jdbc = new JdbcTemplate(dataSource);
    }

    @Override
    public TransactionalStore store() {
        return store;
    }

    @Override
    public TransactionalStore otherNode() {
        return otherNode;
    }

    @Override
    public <R extends @Nullable Object> R inTransaction(Opening opening, Work<R> work) throws Exception {
        DefaultTransactionAttribute attribute = new DefaultTransactionAttribute();
        if (opening == Opening.BY_APPLICATION) {
            return byApplication(manager.getTransaction(attribute), work);
        }
        if (opening == Opening.BY_LIBRARY_SERIALIZABLE) {
            attribute.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
        }
        SpringBusinessTransactions transactions = new SpringBusinessTransactions(manager, attribute, store);
        try {
            return transactions.inNew(handle -> work.run(handle::setRollbackOnly));
        } catch (Exception | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private <R extends @Nullable Object> R byApplication(TransactionStatus status, Work<R> work) throws Exception {
        R result;
        try {
            result = work.run(status::setRollbackOnly);
        } catch (Exception | Error e) {
            manager.rollback(status);
            throw e;
        }
        manager.commit(status);
        return result;
    }

    @Override
    public void addBusinessRow(String text) {
        jdbc.update("insert into business (text) values (?)", text);
    }

    @Override
    public long businessRows(String text) {
        return database.businessRows(text);
    }

    // A joined claim on PostgreSQL holds no row.
    @Override
    public boolean forceResult(RecordId id, StoredResult result) {
        if (mode != ClaimMode.JOINED || !database.isPostgreSql()) {
            return false;
        }
        Entry done = Entry.done(Requests.exactlyOnce(id), result, Requests.LONG);
        update("""
                insert into idempotency_record (id, record_version, token, state, operation, guarantee, owner, fingerprint,
                        completed_at, lease_until, expires_at, result, created_at)
                select ?, 1, 1, ?, ?, ?, ?::uuid, ?, now_ms + ?, now_ms + ?, now_ms + ?, ?, now_ms
                from (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms) as clock
                """, statement -> {
            statement.setBytes(1, id.bytes());
            done.bind(statement, 2, OwnerColumn.UUID_TYPE);
        });
        return true;
    }

    @Override
    public boolean breakResult(RecordId id) {
        update("update idempotency_record set result = ? where id = ?", statement -> {
            statement.setBytes(1, new byte[] {1, 0, 4});
            statement.setBytes(2, id.bytes());
        });
        return true;
    }

    private void update(String sql, Binder binder) {
        try (Connection connection = database.connect();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            binder.bind(statement);
            statement.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public boolean cut() {
        dataSource.cut = true;
        return true;
    }

    @Override
    public void restore() {
        dataSource.cut = false;
    }

    /** Gives no connections while it is cut. */
    private static final class Cuttable extends DelegatingDataSource {

        private volatile boolean cut;

        Cuttable(TestDatabase database) {
            super(database.pool());
        }

        @Override
        public Connection getConnection() throws SQLException {
            if (cut) {
                throw new SQLException("cut", "08001");
            }
            return super.getConnection();
        }
    }

    private interface Binder {

        void bind(PreparedStatement statement) throws SQLException;
    }
}
