package io.idempotency.boot;

import io.idempotency.boot.IdempotencyProperties.Store;
import io.idempotency.redis.RedisIdempotencyStore;
import io.idempotency.spi.IdempotencyStore;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Auto-configuration for the Redis store.
 *
 * @since 0.1.0
 */
@AutoConfiguration(
        before = IdempotencyAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration"
        })
@ConditionalOnClass({RedisIdempotencyStore.class, RedisConnectionFactory.class})
@ConditionalOnBooleanProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnIdempotencyStore(Store.REDIS)
@ConditionalOnBean(RedisConnectionFactory.class)
@EnableConfigurationProperties(IdempotencyProperties.class)
@ImportRuntimeHints(IdempotencyRuntimeHints.class)
public final class IdempotencyRedisAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(IdempotencyStore.class)
    RedisIdempotencyStore idempotencyStore(
            ConfigurableListableBeanFactory beanFactory, IdempotencyProperties properties) {
        return new RedisStores(beanFactory, properties).store();
    }

    @Bean
    @ConditionalOnBean(RedisIdempotencyStore.class)
    StoreDetails idempotencyRedisDetails(RedisIdempotencyStore store, IdempotencyProperties properties) {
        return () -> RedisStores.details(store, properties);
    }
}
