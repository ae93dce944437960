package io.idempotency.boot;

import io.idempotency.boot.ExactlyOnce.Answer.Impossible;
import io.idempotency.boot.ExactlyOnce.Answer.Possible;
import io.idempotency.boot.IdempotencyProperties.Isolation;
import io.idempotency.jdbc.JdbcIdempotencyStore;
import io.idempotency.jdbc.SpringBusinessTransactions;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.support.TieredIdempotencyStore;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.interceptor.DelegatingTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;

/** Exactly once in the transactions of Spring, if the JDBC store is on their DataSource. */
final class JdbcExactlyOnce implements ExactlyOnce {

    private final IdempotencyStore store;
    private final TransactionManagers managers;
    private final TransactionAttributeSource attributes;

    JdbcExactlyOnce(IdempotencyStore store, TransactionManagers managers, BeanFactory beanFactory) {
        this.store = store;
        this.managers = managers;
        TransactionAttributeSource ofApplication =
                beanFactory.getBeanProvider(TransactionAttributeSource.class).getIfUnique();
        this.attributes = ofApplication == null ? new AnnotationTransactionAttributeSource() : ofApplication;
    }

    @Override
    public Answer of(
            @Nullable Method method,
            @Nullable Class<?> targetClass,
            @Nullable Isolation isolation,
            @Nullable Duration timeout) {
        if (!(arbiter() instanceof JdbcIdempotencyStore jdbc)) {
            return new Impossible("the store " + store.name() + " has no part in the application's transactions");
        }
        TransactionAttribute declared = method == null ? null : attributes.getTransactionAttribute(method, targetClass);
        Optional<String> obstacle = declared == null ? Optional.empty() : SpringBusinessTransactions.obstacle(declared);
        if (obstacle.isPresent()) {
            return new Impossible(obstacle.get());
        }
        TransactionManagers.Found found = managers.find(declared, targetClass);
        if (found instanceof TransactionManagers.Found.None none) {
            return new Impossible(none.reason());
        }
        PlatformTransactionManager manager = ((TransactionManagers.Found.Manager) found).manager();
        DataSource dataSource = jdbc.dataSource();
        return SpringBusinessTransactions.obstacle(manager, dataSource)
                .<Answer>map(Impossible::new)
                .orElseGet(() -> new Possible(new SpringBusinessTransactions(
                        manager, new OperationAttribute(declared, isolation, timeout), jdbc)));
    }

    /** The store that decides. */
    private IdempotencyStore arbiter() {
        return store instanceof TieredIdempotencyStore tiered ? tiered.database() : store;
    }

    /** What the method says, and where it says nothing, what is configured. */
    private static final class OperationAttribute extends DelegatingTransactionAttribute {

        private static final long serialVersionUID = 1L;

        private final int isolation;
        private final int timeout;

        OperationAttribute(
                @Nullable TransactionAttribute declared, @Nullable Isolation isolation, @Nullable Duration timeout) {
            super(declared == null ? new RollingBackOnEverything() : declared);
            int own = super.getIsolationLevel();
            this.isolation =
                    own == TransactionDefinition.ISOLATION_DEFAULT && isolation != null ? level(isolation) : own;
            int ownTimeout = super.getTimeout();
            this.timeout = ownTimeout == TransactionDefinition.TIMEOUT_DEFAULT && timeout != null
                    ? Math.toIntExact(timeout.toSeconds())
                    : ownTimeout;
        }

        private static int level(Isolation isolation) {
            return switch (isolation) {
                case READ_UNCOMMITTED -> TransactionDefinition.ISOLATION_READ_UNCOMMITTED;
                case READ_COMMITTED -> TransactionDefinition.ISOLATION_READ_COMMITTED;
                case REPEATABLE_READ -> TransactionDefinition.ISOLATION_REPEATABLE_READ;
                case SERIALIZABLE -> TransactionDefinition.ISOLATION_SERIALIZABLE;
            };
        }

        @Override
        public int getIsolationLevel() {
            return isolation;
        }

        @Override
        public int getTimeout() {
            return timeout;
        }
    }

    /** Whoever writes no {@code @Transactional} has asked for no commit of half a piece of work, checked exception or not. */
    private static final class RollingBackOnEverything extends DefaultTransactionAttribute {

        private static final long serialVersionUID = 1L;

        @Override
        public boolean rollbackOn(Throwable failure) {
            return true;
        }
    }
}
