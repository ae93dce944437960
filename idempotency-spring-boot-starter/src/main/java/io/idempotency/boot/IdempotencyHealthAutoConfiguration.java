package io.idempotency.boot;

import io.idempotency.engine.IdempotencyEngine;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;

/**
 * Auto-configuration for the health of the store on Spring Boot 4.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnClass(HealthIndicator.class)
@ConditionalOnBean(IdempotencyEngine.class)
@Conditional(OnStoreHealthCondition.class)
public final class IdempotencyHealthAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(name = "idempotencyHealthIndicator")
    HealthIndicator idempotencyHealthIndicator(IdempotencyEngine engine, ObjectProvider<StoreDetails> details) {
        StoreHealth health =
                new StoreHealth(engine.store(), details.orderedStream().toList());
        return () -> {
            StoreHealth.Answer answer = health.check();
            Exception failure = answer.failure();
            return (failure == null ? Health.up() : Health.down(failure))
                    .withDetails(answer.details())
                    .build();
        };
    }
}
