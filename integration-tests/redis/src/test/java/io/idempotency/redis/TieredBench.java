package io.idempotency.redis;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.Guarantee;
import io.idempotency.StoreUnavailableException;
import io.idempotency.jdbc.JdbcIdempotencyStore;
import io.idempotency.jdbc.SpringBusinessTransactions;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.ResultCache;
import io.idempotency.support.TieredIdempotencyStore;
import io.idempotency.test.TransactionalStoreFixture;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** A database with a Redis before it, and two nodes of an application on both. */
final class TieredBench implements AutoCloseable {

    static final String POSTGRES_VARIABLE = "IDEMPOTENCY_TEST_PG_URL";

    private final HikariDataSource pool;
    private final AutoCloseable databaseServer;
    private final JdbcTemplate jdbc;
    private final RedisServer redis;
    private final RedisConnectionFactory lettuce;

    private TieredBench(String url, AutoCloseable databaseServer) {
        this.databaseServer = databaseServer;
        this.pool = pool(url);
        this.jdbc = new JdbcTemplate(pool);
        JdbcIdempotencyStore.builder(pool).build().schema().createIfMissing();
        jdbc.execute("create table business (text varchar(100) not null)");
        this.redis = RedisServer.start();
        this.lettuce = Factories.lettuce(redis.port(), Factories.PATIENT);
    }

    static TieredBench onH2() {
        return new TieredBench("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;USER=sa", () -> {});
    }

    /** The PostgreSQL that was named for the tests, or else one of our own. */
    static TieredBench onPostgreSql() throws IOException {
        String named = System.getenv(POSTGRES_VARIABLE);
        EmbeddedPostgres server = named == null || named.isBlank()
                ? EmbeddedPostgres.builder()
                        .setServerConfig("fsync", "off")
                        .setServerConfig("max_connections", "100")
                        .start()
                : null;
        String admin = server == null ? named : server.getJdbcUrl("postgres", "postgres");
        String database = "idempotency_tiered_" + UUID.randomUUID().toString().replace('-', '_');
        try (HikariDataSource connection = pool(admin)) {
            new JdbcTemplate(connection).execute("create database " + database);
        }
        String url = admin.replaceFirst("/[^/?]*(\\?|$)", "/" + database + "$1");
        return new TieredBench(url, () -> {
            if (server != null) {
                server.close();
                return;
            }
            try (HikariDataSource connection = pool(admin)) {
                new JdbcTemplate(connection).execute("drop database " + database + " with (force)");
            }
        });
    }

    private static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(16);
        config.setMinimumIdle(0);
        return new HikariDataSource(config);
    }

    RedisServer redis() {
        return redis;
    }

    RedisConnectionFactory lettuce() {
        return lettuce;
    }

    JdbcTemplate jdbc() {
        return jdbc;
    }

    DataSource pool() {
        return pool;
    }

    /** The store as Spring Boot makes it. */
    TieredIdempotencyStore newStore(DataSource dataSource, ResultCache cache, IdempotencyListener... listeners) {
        return TieredIdempotencyStore.builder(
                        JdbcIdempotencyStore.builder(dataSource)
                                .queryTimeout(Duration.ofSeconds(5))
                                .build(),
                        cache)
                .patience(Duration.ofSeconds(1))
                .afterCommit(TieredBench::afterCommit)
                .listeners(List.of(listeners))
                .build();
    }

    static void afterCommit(Runnable work) {
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    work.run();
                }
            });
        }
    }

    ResultCache cache() {
        return RedisResultCache.builder(lettuce).build();
    }

    /** Makes it worth asking the cache first about an operation. */
    static void warmUp(TieredIdempotencyStore store, String operation) {
        Supplier<ClaimRequest> requests = new Supplier<>() {
            private final RecordId id =
                    RecordId.of(operation, "warm-up", UUID.randomUUID().toString());

            @Override
            public ClaimRequest get() {
                return new ClaimRequest(
                        id,
                        operation,
                        Guarantee.AT_LEAST_ONCE,
                        new Owner(UUID.randomUUID()),
                        Fingerprint.NONE,
                        Claims.LONG,
                        Claims.LONG,
                        null);
            }
        };
        Lease lease = Claims.claim(store, requests.get());
        store.complete(lease, Claims.result("warm"), Claims.LONG);
        for (int i = 0; i < 40; i++) {
            if (!(store.tryClaim(requests.get()) instanceof ClaimResult.Done)) {
                throw new IllegalStateException("Not a duplicate");
            }
        }
    }

    TransactionalStoreFixture fixture() {
        return new Fixture();
    }

    @Override
    public void close() throws Exception {
        ((org.springframework.beans.factory.DisposableBean) lettuce).destroy();
        redis.close();
        pool.close();
        databaseServer.close();
    }

    private final class Fixture implements TransactionalStoreFixture {

        private final Cuttable dataSource = new Cuttable(pool);
        private final CuttableCache cuttableCache = new CuttableCache(cache());
        private final TieredIdempotencyStore store = newStore(dataSource, cuttableCache);
        private final TieredIdempotencyStore otherNode = newStore(pool, cache());
        private final JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
        private final JdbcTemplate business = new JdbcTemplate(dataSource);

        Fixture() {
            warmUp(store, "contract-operation");
            warmUp(otherNode, "contract-operation");
        }

        @Override
        public TieredIdempotencyStore store() {
            return store;
        }

        @Override
        public TieredIdempotencyStore otherNode() {
            return otherNode;
        }

        @Override
        public <R> R inTransaction(Opening opening, Work<R> work) throws Exception {
            DefaultTransactionAttribute attribute = new DefaultTransactionAttribute();
            if (opening == Opening.BY_APPLICATION) {
                return byApplication(manager.getTransaction(attribute), work);
            }
            if (opening == Opening.BY_LIBRARY_SERIALIZABLE) {
                attribute.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
            }
            try {
                return new SpringBusinessTransactions(manager, attribute, (JdbcIdempotencyStore) store.database())
                        .inNew(handle -> work.run(handle::setRollbackOnly));
            } catch (Exception | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }

        private <R> R byApplication(TransactionStatus status, Work<R> work) throws Exception {
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
            business.update("insert into business (text) values (?)", text);
        }

        @Override
        public long businessRows(String text) {
            return jdbc.queryForObject("select count(*) from business where text = ?", Long.class, text);
        }

        // The copy is sound, so it has to go as well, and not to come late.
        @Override
        public boolean breakResult(RecordId id) {
            jdbc.update("update idempotency_record set result = ? where id = ?", new byte[] {1, 0, 4}, id.bytes());
            cache().bar(id);
            return true;
        }

        @Override
        public boolean cut() {
            dataSource.cut = true;
            cuttableCache.cut = true;
            return true;
        }

        @Override
        public void restore() {
            dataSource.cut = false;
            cuttableCache.cut = false;
        }

        @Override
        public void close() {
            store.close();
            otherNode.close();
        }
    }

    /** Does not answer while it is cut. */
    private static final class CuttableCache implements ResultCache {

        private final ResultCache cache;
        private volatile boolean cut;

        CuttableCache(ResultCache cache) {
            this.cache = cache;
        }

        private ResultCache connected() {
            if (cut) {
                throw new StoreUnavailableException("cut", null);
            }
            return cache;
        }

        @Override
        public String name() {
            return cache.name();
        }

        @Override
        public OptionalLong time() {
            return cache.time();
        }

        @Override
        public Optional<ClaimResult.Done> get(RecordId id) {
            return connected().get(id);
        }

        @Override
        public void put(RecordId id, ClaimResult.Done done, Duration lifetime, OptionalLong asOf) {
            connected().put(id, done, lifetime, asOf);
        }

        @Override
        public void bar(RecordId id) {
            connected().bar(id);
        }
    }

    /** Gives no connections while it is cut. */
    static final class Cuttable extends DelegatingDataSource {

        volatile boolean cut;

        Cuttable(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            if (cut) {
                throw new SQLException("cut", "08001");
            }
            return super.getConnection();
        }
    }
}
