package io.idempotency.jdbc;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spi.CommitFailedException;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionUsageException;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The transactions of a Spring transaction manager, with the attributes of one operation.
 *
 * <p>What an operation's own {@code @Transactional} says about isolation, timeout and rollback rules holds here; a method below that
 * says {@code REQUIRED} joins. On MariaDB and MySQL the transactions are READ COMMITTED where nothing is said. One that somebody has
 * marked for rollback is rolled back without an {@link org.springframework.transaction.UnexpectedRollbackException}.
 *
 * <p>A callback that fails <em>after</em> the commit changes nothing any more: it is logged, and the result is returned, the same one
 * that duplicates get.
 *
 * @since 0.1.0
 */
public final class SpringBusinessTransactions implements BusinessTransactions {

    private static final Logger log = LoggerFactory.getLogger(SpringBusinessTransactions.class);

    private static final boolean JPA = ClassUtils.isPresent(
                    "org.springframework.orm.jpa.JpaTransactionManager",
                    SpringBusinessTransactions.class.getClassLoader())
            && ClassUtils.isPresent(
                    "jakarta.persistence.EntityManagerFactory", SpringBusinessTransactions.class.getClassLoader());

    private final PlatformTransactionManager manager;
    private final TransactionAttribute attribute;
    private final JdbcIdempotencyStore store;
    private final DefaultTransactionDefinition definition;

    /**
     * Transactions of one operation.
     *
     * @param manager a manager that {@link #obstacle(PlatformTransactionManager, DataSource)} has nothing against
     * @param attribute of the operation's method; its propagation does not matter
     * @param store where the records of the operation are
     */
    public SpringBusinessTransactions(
            PlatformTransactionManager manager, TransactionAttribute attribute, JdbcIdempotencyStore store) {
        this.manager = Objects.requireNonNull(manager, "manager");
        this.attribute = Objects.requireNonNull(attribute, "attribute");
        this.store = Objects.requireNonNull(store, "store");
        this.definition = new DefaultTransactionDefinition(attribute);
        this.definition.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    }

    /**
     * Why a transaction manager cannot give EXACTLY_ONCE together with a store on this data source; empty if it can.
     *
     * <p>It can if it is a DataSource-, Jdbc- or JpaTransactionManager on the same data source, proxies not counted.
     */
    public static Optional<String> obstacle(PlatformTransactionManager manager, DataSource dataSource) {
        String name = ClassUtils.getUserClass(manager).getSimpleName();
        DataSource managed;
        if (manager instanceof DataSourceTransactionManager jdbc) {
            managed = jdbc.getDataSource();
        } else if (JPA && Jpa.isManager(manager)) {
            managed = Jpa.dataSource(manager);
        } else {
            return Optional.of(
                    name + " is not a DataSourceTransactionManager, JdbcTransactionManager or JpaTransactionManager");
        }
        if (managed == null) {
            return Optional.of(name + " does not tell which DataSource it works on");
        }
        if (DataSources.isRouting(managed) || DataSources.isRouting(dataSource)) {
            return Optional.of("the DataSource routes to several databases");
        }
        return DataSources.same(managed, dataSource)
                ? Optional.empty()
                : Optional.of(name + " works on another DataSource than the idempotency store");
    }

    /** Why transactions with these attributes cannot give EXACTLY_ONCE; empty if they can. */
    public static Optional<String> obstacle(TransactionAttribute attribute) {
        if (attribute.isReadOnly()) {
            return Optional.of("its transaction is read-only");
        }
        return switch (attribute.getPropagationBehavior()) {
            case TransactionDefinition.PROPAGATION_REQUIRES_NEW ->
                Optional.of("its propagation REQUIRES_NEW leaves the transaction of the claim");
            case TransactionDefinition.PROPAGATION_NOT_SUPPORTED ->
                Optional.of("its propagation NOT_SUPPORTED leaves the transaction of the claim");
            case TransactionDefinition.PROPAGATION_NEVER ->
                Optional.of("its propagation NEVER refuses the transaction of the claim");
            default -> Optional.empty();
        };
    }

    /**
     * To be registered on transaction managers, also on those that have nothing to do with the store, so that work outside of the
     * transaction is reported by the name of its own. Without it that work is seen as well, where it suspends the transaction.
     */
    public static TransactionExecutionListener outsideWorkListener() {
        return WorkOutside.LISTENER;
    }

    @Override
    public boolean isOpen() {
        return TransactionSynchronizationManager.isActualTransactionActive() && hasConnection() && joined() != null;
    }

    private boolean hasConnection() {
        DataSource dataSource = store.dataSource();
        return TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder
                || TransactionSynchronizationManager.getResourceMap().entrySet().stream()
                        .anyMatch(resource -> resource.getValue() instanceof ConnectionHolder
                                && resource.getKey() instanceof DataSource candidate
                                && DataSources.same(candidate, dataSource));
    }

    // Of a status that takes part in the open transaction nothing has to be cleaned up.
    private @Nullable TransactionStatus joined() {
        DefaultTransactionDefinition mandatory =
                new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_MANDATORY);
        mandatory.setReadOnly(TransactionSynchronizationManager.isCurrentTransactionReadOnly());
        Integer isolation = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
        if (isolation != null) {
            mandatory.setIsolationLevel(isolation);
        }
        try {
            return manager.getTransaction(mandatory);
        } catch (IllegalTransactionStateException none) {
            return null;
        }
    }

    @Override
    public boolean isOpenReadOnly() {
        return TransactionSynchronizationManager.isCurrentTransactionReadOnly();
    }

    @Override
    public boolean serializable() {
        return attribute.getIsolationLevel() == TransactionDefinition.ISOLATION_SERIALIZABLE;
    }

    @Override
    public boolean rollsBackOn(Throwable failure) {
        return attribute.rollbackOn(failure);
    }

    @Override
    public Handle open() {
        TransactionStatus status = joined();
        if (status == null) {
            throw new IllegalStateException("No transaction is open on this thread");
        }
        return new OpenTransaction(manager, status, WorkOutside.watch());
    }

    @Override
    public <R extends @Nullable Object> R inNew(Work<R> work) throws Throwable {
        TransactionStatus status = begin();
        WorkOutside outside = WorkOutside.watch();
        R result;
        try {
            result = outside.whileRunning(() -> work.run(new NewTransaction(status, outside)));
        } catch (Throwable failure) {
            rollBack(status, failure);
            throw failure;
        }
        if (status.isRollbackOnly()) {
            rollBack(status, null);
        } else {
            commit(status, outside);
        }
        return result;
    }

    private TransactionStatus begin() {
        TransactionDefinition wanted = definition();
        try {
            return manager.getTransaction(wanted);
        } catch (TransactionUsageException misuse) {
            throw misuse;
        } catch (RuntimeException e) {
            throw new StoreUnavailableException("No transaction could be begun", e);
        }
    }

    private TransactionDefinition definition() {
        if (definition.getIsolationLevel() != TransactionDefinition.ISOLATION_DEFAULT || !store.readsCommitted()) {
            return definition;
        }
        DefaultTransactionDefinition readingCommitted = new DefaultTransactionDefinition(definition);
        readingCommitted.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
        return readingCommitted;
    }

    // If even this fails the connection is gone, and with it the transaction.
    private static void rollBack(
            PlatformTransactionManager manager, TransactionStatus status, @Nullable Throwable why) {
        try {
            manager.rollback(status);
        } catch (RuntimeException e) {
            if (why == null) {
                log.warn("A rollback failed; the database rolls back when it notices that the connection is gone", e);
            } else {
                why.addSuppressed(e);
            }
        }
    }

    private void rollBack(TransactionStatus status, @Nullable Throwable why) {
        rollBack(manager, status, why);
    }

    private void commit(TransactionStatus status, WorkOutside outside) {
        try {
            manager.commit(status);
        } catch (RuntimeException failure) {
            if (!outside.isCommitted()) {
                throw new CommitFailedException(CommitFailures.kindOf(failure), failure);
            }
            log.error("The transaction is committed, but a callback after the commit failed", failure);
        }
    }

    /** A transaction of the library. */
    private record NewTransaction(TransactionStatus status, WorkOutside outside) implements Handle {

        @Override
        public boolean isRollbackOnly() {
            return status.isRollbackOnly();
        }

        @Override
        public void setRollbackOnly() {
            status.setRollbackOnly();
        }

        @Override
        public @Nullable String workOutside() {
            return outside.seen();
        }
    }

    /** A transaction of the application. */
    private record OpenTransaction(PlatformTransactionManager manager, TransactionStatus status, WorkOutside outside)
            implements Handle {

        @Override
        public boolean isRollbackOnly() {
            return status.isRollbackOnly();
        }

        // Rolling back a part marks the whole.
        @Override
        public void setRollbackOnly() {
            manager.rollback(status);
        }

        @Override
        public @Nullable String workOutside() {
            return outside.seen();
        }
    }

    /** Kept apart because JPA may be absent. */
    private static final class Jpa {

        private Jpa() {}

        static boolean isManager(PlatformTransactionManager manager) {
            return manager instanceof org.springframework.orm.jpa.JpaTransactionManager;
        }

        static @Nullable DataSource dataSource(PlatformTransactionManager manager) {
            return ((org.springframework.orm.jpa.JpaTransactionManager) manager).getDataSource();
        }
    }
}
