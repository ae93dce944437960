package io.idempotency.boot;

import io.idempotency.boot.IdempotencyProperties.Store;
import io.idempotency.jdbc.JdbcIdempotencyStore;
import io.idempotency.redis.RedisResultCache;
import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.support.TieredIdempotencyStore;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Auto-configuration for the tiered store: records in a database, copies of results in Redis.
 *
 * @since 0.1.0
 */
@AutoConfiguration(
        before = IdempotencyAutoConfiguration.class,
        after = {IdempotencyJdbcAutoConfiguration.class, IdempotencyMetricsAutoConfiguration.class},
        afterName = {
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration"
        })
@ConditionalOnClass({
    JdbcIdempotencyStore.class,
    TransactionManager.class,
    RedisResultCache.class,
    RedisConnectionFactory.class
})
@ConditionalOnBooleanProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnIdempotencyStore(Store.TIERED)
@ConditionalOnBean({DataSource.class, RedisConnectionFactory.class})
@EnableConfigurationProperties(IdempotencyProperties.class)
@ImportRuntimeHints(IdempotencyRuntimeHints.class)
public final class IdempotencyTieredAutoConfiguration {

    // Migrations come first, as for the JDBC store.
    @Bean
    @DependsOnDatabaseInitialization
    @ConditionalOnMissingBean(IdempotencyStore.class)
    TieredIdempotencyStore idempotencyStore(
            ConfigurableListableBeanFactory beanFactory,
            IdempotencyProperties properties,
            @IdempotencyDataSource ObjectProvider<DataSource> qualified,
            ObjectProvider<IdempotencyListener> listeners) {
        return TieredIdempotencyStore.builder(
                        new JdbcStores(beanFactory, properties.jdbc()).store(qualified.getIfAvailable()),
                        new RedisStores(beanFactory, properties).cache())
                .cacheTtl(properties.tiered().cacheTtl())
                .afterCommit(IdempotencyTieredAutoConfiguration::afterCommit)
                .listeners(listeners.orderedStream().toList())
                .build();
    }

    private static void afterCommit(Runnable work) {
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    work.run();
                }
            });
        }
    }
}
