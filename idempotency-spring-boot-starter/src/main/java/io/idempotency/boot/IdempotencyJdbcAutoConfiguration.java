package io.idempotency.boot;

import io.idempotency.boot.IdempotencyProperties.Store;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.jdbc.JdbcIdempotencyStore;
import io.idempotency.jdbc.SpringBusinessTransactions;
import io.idempotency.spi.IdempotencyStore;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionManager;

/**
 * Auto-configuration for the JDBC store, and for exactly-once operations on it.
 *
 * @since 0.1.0
 */
@AutoConfiguration(
        before = IdempotencyAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration"
        })
@ConditionalOnClass({JdbcIdempotencyStore.class, TransactionManager.class})
@ConditionalOnBooleanProperty(name = "idempotency.enabled", matchIfMissing = true)
@EnableConfigurationProperties(IdempotencyProperties.class)
@ImportRuntimeHints(IdempotencyRuntimeHints.class)
public final class IdempotencyJdbcAutoConfiguration {

    @Bean
    ExactlyOnce idempotencyExactlyOnce(
            IdempotencyEngine engine,
            ConfigurableListableBeanFactory beanFactory,
            IdempotencyProperties properties,
            @IdempotencyTransactionManager ObjectProvider<TransactionManager> qualified) {
        return new JdbcExactlyOnce(
                engine.store(),
                new TransactionManagers(
                        beanFactory, properties.jdbc().transactionManager(), qualified.getIfAvailable()),
                beanFactory);
    }

    @Bean
    static BeanPostProcessor idempotencyOutsideWorkPostProcessor() {
        return new BeanPostProcessor() {
            @Override
            public @Nullable Object postProcessAfterInitialization(Object bean, String beanName) {
                if (bean instanceof ConfigurableTransactionManager manager) {
                    manager.addListener(SpringBusinessTransactions.outsideWorkListener());
                }
                return bean;
            }
        };
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnIdempotencyStore(Store.JDBC)
    @ConditionalOnBean(DataSource.class)
    @ConditionalOnMissingBean(IdempotencyStore.class)
    static class StoreConfiguration {

        // Migrations create the table, or fill the schema that the library's own script must not find empty.
        @Bean
        @DependsOnDatabaseInitialization
        JdbcIdempotencyStore idempotencyStore(
                ConfigurableListableBeanFactory beanFactory,
                IdempotencyProperties properties,
                @IdempotencyDataSource ObjectProvider<DataSource> qualified) {
            return new JdbcStores(beanFactory, properties.jdbc()).store(qualified.getIfAvailable());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DatabaseInitializationDependencyConfigurer.class)
    @Import(DatabaseInitializationDependencyConfigurer.class)
    static class OrderConfiguration {}
}
