package io.idempotency.boot;

import io.idempotency.IdempotencyModes;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration for the actuator endpoint of the modes.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnClass(Endpoint.class)
@ConditionalOnBean(IdempotencyModes.class)
public final class IdempotencyModesEndpointAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    IdempotencyModesEndpoint idempotencyModesEndpoint(IdempotencyModes modes) {
        return new IdempotencyModesEndpoint(modes);
    }
}
