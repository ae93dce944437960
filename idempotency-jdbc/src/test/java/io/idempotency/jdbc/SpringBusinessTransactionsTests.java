package io.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spi.CommitFailedException;
import java.io.IOException;
import java.sql.SQLException;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.HeuristicCompletionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.interceptor.RollbackRuleAttribute;
import org.springframework.transaction.interceptor.RuleBasedTransactionAttribute;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

class SpringBusinessTransactionsTests {

    @AutoClose
    private static final TestDatabase database = TestDatabase.postgreSql();

    @AutoClose
    private static final TestDatabase otherDatabase = TestDatabase.h2();

    private final DataSource dataSource = database.pool();
    private final JdbcIdempotencyStore store =
            JdbcIdempotencyStore.builder(dataSource).build();
    private final JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    private final SpringBusinessTransactions transactions =
            new SpringBusinessTransactions(manager, new DefaultTransactionAttribute(), store);
    private final String row = UUID.randomUUID().toString();

    @BeforeAll
    static void createTables() {
        database.execute("create table parent (id int primary key)");
        database.execute("create table child (parent int references parent deferrable initially deferred)");
    }

    @Test
    void resultIsReturnedAfterTheCommit() throws Throwable {
        Object result = transactions.inNew(transaction -> {
            add();
            return "result";
        });

        assertThat(result).isEqualTo("result");

        assertThat(rows()).isEqualTo(1);
        assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                .isFalse();
    }

    @Test
    void failureOfTheWorkRollsBackAndPassesUnchanged() {
        IOException failure = new IOException("checked");

        assertThatThrownBy(() -> transactions.inNew(transaction -> {
                    add();
                    throw failure;
                }))
                .isSameAs(failure);

        assertThat(rows()).isZero();
    }

    @Test
    void markByTheLibraryRollsBackWithoutAnException() throws Throwable {
        Object result = transactions.inNew(transaction -> {
            add();
            transaction.setRollbackOnly();
            return transaction.isRollbackOnly();
        });

        assertThat(result).isEqualTo(true);

        assertThat(rows()).isZero();
    }

    // The service threw, its proxy marked the transaction, and the controller caught the exception.
    @Test
    void markByAParticipantIsSeenAndRollsBackWithoutAnException() throws Throwable {
        Object result = transactions.inNew(transaction -> {
            add();
            assertThat(transaction.isRollbackOnly()).isFalse();
            try {
                new TransactionTemplate(manager).executeWithoutResult(status -> {
                    throw new IllegalArgumentException("of the service");
                });
            } catch (IllegalArgumentException caught) {
                return transaction.isRollbackOnly();
            }
            return false;
        });

        assertThat(result).isEqualTo(true);

        assertThat(rows()).isZero();
    }

    @Test
    void attributesOfTheMethodHold() throws Throwable {
        DefaultTransactionAttribute attribute = new DefaultTransactionAttribute();
        attribute.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
        attribute.setTimeout(17);
        attribute.setName("payments.pay");
        attribute.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
        SpringBusinessTransactions serializable = new SpringBusinessTransactions(manager, attribute, store);

        serializable.inNew(transaction -> {
            assertThat(jdbc.queryForObject("select current_setting('transaction_isolation')", String.class))
                    .isEqualTo("serializable");
            assertThat(TransactionSynchronizationManager.getCurrentTransactionName())
                    .isEqualTo("payments.pay");
            return true;
        });

        assertThat(serializable.serializable()).isTrue();
        assertThat(transactions.serializable()).isFalse();
    }

    @Test
    void rollbackRulesAreThoseOfTheAttribute() {
        RuleBasedTransactionAttribute attribute = new RuleBasedTransactionAttribute();
        attribute.getRollbackRules().add(new RollbackRuleAttribute(IOException.class));
        SpringBusinessTransactions ruled = new SpringBusinessTransactions(manager, attribute, store);

        assertThat(ruled.rollsBackOn(new IOException())).isTrue();
        assertThat(ruled.rollsBackOn(new InterruptedException())).isFalse();
        assertThat(ruled.rollsBackOn(new IllegalStateException())).isTrue();
        assertThat(transactions.rollsBackOn(new IOException())).isFalse();
    }

    @Test
    void transactionThatCannotBeBegunIsUnavailable() {
        HikariDataSource closed = otherDatabase.pool(config -> {});
        closed.close();
        SpringBusinessTransactions dead = new SpringBusinessTransactions(
                new JdbcTransactionManager(closed), new DefaultTransactionAttribute(), store);

        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> dead.inNew(transaction -> {
                    throw new AssertionError("must not run");
                }));
    }

    @Test
    void constraintThatFailsAtCommitIsRolledBack() {
        assertThatExceptionOfType(CommitFailedException.class)
                .isThrownBy(() -> transactions.inNew(transaction -> {
                    add();
                    return jdbc.update("insert into child (parent) values (404)");
                }))
                .satisfies(failed -> {
                    assertThat(failed.kind()).isEqualTo(CommitFailedException.Kind.ROLLED_BACK);
                    assertThat(failed.failure()).isInstanceOf(DataIntegrityViolationException.class);
                });

        assertThat(rows()).isZero();
    }

    // Of two that read what the other one writes, the second to commit is refused.
    @Test
    void serializationFailureAtCommitIsAConflict() {
        DefaultTransactionAttribute attribute = new DefaultTransactionAttribute();
        attribute.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
        SpringBusinessTransactions serializable = new SpringBusinessTransactions(manager, attribute, store);
        String other = UUID.randomUUID().toString();

        assertThatExceptionOfType(CommitFailedException.class)
                .isThrownBy(() -> serializable.inNew(transaction -> {
                    jdbc.queryForList("select * from business");
                    add();
                    Bench.race(1, index -> {
                        try {
                            return serializable.inNew(inner -> {
                                jdbc.queryForList("select * from business");
                                return jdbc.update("insert into business (text) values (?)", other);
                            });
                        } catch (Throwable e) {
                            throw new AssertionError(e);
                        }
                    });
                    return true;
                }))
                .satisfies(failed -> assertThat(failed.kind()).isEqualTo(CommitFailedException.Kind.CONFLICT));

        assertThat(rows()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "40001, 0, CONFLICT",
        "40P01, 0, CONFLICT",
        "40001, 1213, CONFLICT",
        "HY000, 1020, CONFLICT",
        "HYT00, 50200, CONFLICT",
        "23505, 0, ROLLED_BACK",
        "23503, 0, ROLLED_BACK",
        "25P02, 0, ROLLED_BACK",
        "08006, 0, UNKNOWN",
        "57P01, 0, UNKNOWN",
        "40003, 0, UNKNOWN",
        "XX000, 0, UNKNOWN",
    })
    void failureOfACommitIsKnownByItsCode(String state, int code, CommitFailedException.Kind kind) {
        SQLException cause = new SQLException("", state, code);

        assertThat(CommitFailures.kindOf(new TransactionSystemException("commit", cause)))
                .isEqualTo(kind);
        assertThat(CommitFailures.kindOf(new DuplicateKeyException("commit", new IllegalStateException(cause))))
                .isEqualTo(kind);
    }

    @Test
    void failureOfACommitWithoutACodeIsKnownByItsKind() {
        assertThat(CommitFailures.kindOf(new UnexpectedRollbackException("")))
                .isEqualTo(CommitFailedException.Kind.ROLLED_BACK);
        assertThat(CommitFailures.kindOf(new OptimisticLockingFailureException("")))
                .isEqualTo(CommitFailedException.Kind.ROLLED_BACK);
        assertThat(CommitFailures.kindOf(new DataIntegrityViolationException("")))
                .isEqualTo(CommitFailedException.Kind.ROLLED_BACK);
        assertThat(CommitFailures.kindOf(new HeuristicCompletionException(0, null)))
                .isEqualTo(CommitFailedException.Kind.UNKNOWN);
        assertThat(CommitFailures.kindOf(new IllegalStateException())).isEqualTo(CommitFailedException.Kind.UNKNOWN);
    }

    @Test
    void callbackThatFailsAfterTheCommitDoesNotUndoIt() throws Throwable {
        Object result = transactions.inNew(transaction -> {
            add();
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    throw new IllegalStateException("after the commit");
                }
            });
            return "result";
        });

        assertThat(result).isEqualTo("result");

        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void callbackThatFailsBeforeTheCommitFailsIt() {
        assertThatExceptionOfType(CommitFailedException.class)
                .isThrownBy(() -> transactions.inNew(transaction -> {
                    add();
                    TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void beforeCommit(boolean readOnly) {
                            throw new IllegalStateException("before the commit");
                        }
                    });
                    return "result";
                }))
                .satisfies(failed -> assertThat(failed.failure()).hasMessage("before the commit"));

        assertThat(rows()).isZero();
    }

    @Test
    void openTransactionOfTheApplicationIsSeen() {
        assertThat(transactions.isOpen()).isFalse();

        new TransactionTemplate(manager).executeWithoutResult(status -> {
            assertThat(transactions.isOpen()).isTrue();
            assertThat(transactions.isOpenReadOnly()).isFalse();
            assertThat(transactions.open().isRollbackOnly()).isFalse();
            add();
        });

        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void openReadOnlyTransactionIsSeen() {
        TransactionTemplate readOnly = new TransactionTemplate(manager);
        readOnly.setReadOnly(true);
        manager.setValidateExistingTransaction(true);

        readOnly.executeWithoutResult(status -> {
            assertThat(transactions.isOpen()).isTrue();
            assertThat(transactions.isOpenReadOnly()).isTrue();
        });
    }

    @Test
    void transactionOfAnotherDatabaseIsNotOurs() {
        new TransactionTemplate(new JdbcTransactionManager(otherDatabase.pool())).executeWithoutResult(status -> {
            assertThat(transactions.isOpen()).isFalse();
            assertThatCode(() -> transactions.inNew(transaction -> {
                        add();
                        return true;
                    }))
                    .doesNotThrowAnyException();
            status.setRollbackOnly();
        });

        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void markOnAnOpenTransactionRollsItBack() {
        assertThatExceptionOfType(UnexpectedRollbackException.class)
                .isThrownBy(() -> new TransactionTemplate(manager).executeWithoutResult(status -> {
                    BusinessTransactions.Handle handle = transactions.open();
                    add();
                    handle.setRollbackOnly();
                    assertThat(handle.isRollbackOnly()).isTrue();
                }));

        assertThat(rows()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            ints = {TransactionDefinition.PROPAGATION_REQUIRES_NEW, TransactionDefinition.PROPAGATION_NOT_SUPPORTED})
    void workThatLeavesTheTransactionIsSeen(int propagation) throws Throwable {
        TransactionTemplate leaving = new TransactionTemplate(manager);
        leaving.setPropagationBehavior(propagation);

        String seen = transactions.inNew(transaction -> {
            assertThat(transaction.workOutside()).isNull();
            new Audit(leaving).log();
            return String.valueOf(transaction.workOutside());
        });

        assertThat(seen).contains("Audit.log");
    }

    @Test
    void workThatLeavesAnOpenTransactionIsSeen() {
        TransactionTemplate leaving = new TransactionTemplate(manager);
        leaving.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);

        new TransactionTemplate(manager).executeWithoutResult(status -> {
            new Audit(leaving).log();
            BusinessTransactions.Handle handle = transactions.open();
            assertThat(handle.workOutside()).as("before the action").isNull();
            new Audit(leaving).log();
            assertThat(handle.workOutside()).contains("Audit.log");
        });
    }

    @Test
    void workThatJoinsOrNestsIsInside() throws Throwable {
        TransactionTemplate nesting = new TransactionTemplate(manager);
        nesting.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);

        transactions.inNew(transaction -> {
            new Audit(new TransactionTemplate(manager)).log();
            new Audit(nesting).log();
            assertThat(transaction.workOutside()).isNull();
            return true;
        });
    }

    @Test
    void workOfAnotherManagerIsSeenByItsNameWithTheListener() throws Throwable {
        JdbcTransactionManager other = new JdbcTransactionManager(otherDatabase.pool());
        other.addListener(SpringBusinessTransactions.outsideWorkListener());
        TransactionTemplate named = new TransactionTemplate(other);
        named.setName("com.example.Audit.log");

        transactions.inNew(transaction -> {
            named.executeWithoutResult(status -> {});
            assertThat(transaction.workOutside()).isEqualTo("the transaction com.example.Audit.log");
            return true;
        });
        named.executeWithoutResult(status -> {});
    }

    // What runs when the transaction is about to end, or has ended, does not run below the action.
    @Test
    void workAfterTheCommitIsNotSeen() throws Throwable {
        AtomicInteger runs = new AtomicInteger();
        TransactionTemplate leaving = new TransactionTemplate(manager);
        leaving.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        BusinessTransactions.Handle[] handle = new BusinessTransactions.Handle[1];

        transactions.inNew(transaction -> {
            handle[0] = transaction;
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    leaving.executeWithoutResult(status -> runs.incrementAndGet());
                }
            });
            return true;
        });

        assertThat(runs).hasValue(1);
        assertThat(handle[0].workOutside()).isNull();
    }

    @Test
    void managersOnTheSameDataSourceAreSuitable() {
        DataSource proxy = new LazyConnectionDataSourceProxy(new TransactionAwareDataSourceProxy(dataSource));
        JpaTransactionManager jpa = new JpaTransactionManager();
        jpa.setDataSource(proxy);

        assertThat(SpringBusinessTransactions.obstacle(manager, dataSource)).isEmpty();
        assertThat(SpringBusinessTransactions.obstacle(manager, proxy)).isEmpty();
        assertThat(SpringBusinessTransactions.obstacle(new DataSourceTransactionManager(proxy), dataSource))
                .isEmpty();
        assertThat(SpringBusinessTransactions.obstacle(jpa, dataSource)).isEmpty();
        assertThat(SpringBusinessTransactions.obstacle(
                        new DataSourceTransactionManager(new Wires(dataSource)), dataSource))
                .isEmpty();
    }

    @Test
    void otherManagersAreNotAndTheReasonIsTold() {
        AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return "one";
            }
        };
        routing.setTargetDataSources(Map.of("one", dataSource));
        routing.afterPropertiesSet();

        assertObstacle(new JdbcTransactionManager(otherDatabase.pool()), dataSource, "another DataSource");
        assertObstacle(new DataSourceTransactionManager(routing), routing, "routes");
        assertObstacle(
                new DataSourceTransactionManager(new LazyConnectionDataSourceProxy(routing)), dataSource, "routes");
        assertObstacle(new JpaTransactionManager(), dataSource, "does not tell");
        assertObstacle(new ForeignTransactionManager(), dataSource, "ForeignTransactionManager is not a");
    }

    @ParameterizedTest
    @CsvSource({
        "PROPAGATION_REQUIRED, false, ",
        "PROPAGATION_SUPPORTS, false, ",
        "PROPAGATION_MANDATORY, false, ",
        "PROPAGATION_NESTED, false, ",
        "PROPAGATION_REQUIRES_NEW, false, REQUIRES_NEW",
        "PROPAGATION_NOT_SUPPORTED, false, NOT_SUPPORTED",
        "PROPAGATION_NEVER, false, NEVER",
        "PROPAGATION_REQUIRED, true, read-only",
    })
    void attributesThatLeaveTheTransactionAreAnObstacle(String propagation, boolean readOnly, String reason) {
        DefaultTransactionAttribute attribute = new DefaultTransactionAttribute();
        attribute.setPropagationBehaviorName(propagation);
        attribute.setReadOnly(readOnly);

        if (reason == null) {
            assertThat(SpringBusinessTransactions.obstacle(attribute)).isEmpty();
        } else {
            assertThat(SpringBusinessTransactions.obstacle(attribute))
                    .hasValueSatisfying(told -> assertThat(told).contains(reason));
        }
    }

    private static void assertObstacle(PlatformTransactionManager manager, DataSource dataSource, String reason) {
        assertThat(SpringBusinessTransactions.obstacle(manager, dataSource))
                .hasValueSatisfying(told -> assertThat(told).contains(reason));
    }

    private void add() {
        jdbc.update("insert into business (text) values (?)", row);
    }

    private long rows() {
        return database.businessRows(row);
    }

    /** Stands for a bean with a transaction of its own. */
    private record Audit(TransactionTemplate template) {

        void log() {
            template.executeWithoutResult(status -> {});
        }
    }

    private static final class ForeignTransactionManager implements PlatformTransactionManager {

        @Override
        public TransactionStatus getTransaction(TransactionDefinition definition) throws TransactionException {
            throw new UnsupportedOperationException();
        }

        @Override
        public void commit(TransactionStatus status) throws TransactionException {}

        @Override
        public void rollback(TransactionStatus status) throws TransactionException {}
    }
}
