package io.idempotency.boot;

import io.idempotency.engine.IdempotencyEngine;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;

/**
 * Auto-configuration for the health of the store on Spring Boot 3.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnClass(HealthIndicator.class)
@ConditionalOnBean(IdempotencyEngine.class)
@Conditional(OnStoreHealthCondition.class)
public final class IdempotencyHealthBoot3AutoConfiguration {

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
