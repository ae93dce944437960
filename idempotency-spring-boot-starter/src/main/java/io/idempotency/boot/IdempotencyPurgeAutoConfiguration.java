package io.idempotency.boot;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spi.IdempotencyListener;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration for the job that removes expired records, where the store needs one.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnBean(IdempotencyEngine.class)
@ConditionalOnBooleanProperty(name = "idempotency.purge.enabled", matchIfMissing = true)
public final class IdempotencyPurgeAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    PurgeJob idempotencyPurgeJob(
            IdempotencyEngine engine, IdempotencyProperties properties, ObjectProvider<IdempotencyListener> listeners) {
        return new PurgeJob(
                engine.store(), properties.purge(), listeners.orderedStream().toList());
    }
}
