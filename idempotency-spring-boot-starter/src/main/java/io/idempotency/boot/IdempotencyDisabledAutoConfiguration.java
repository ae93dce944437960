package io.idempotency.boot;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration for an application that has disabled the library: says what runs unprotected because of that.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "idempotency.enabled", havingValue = false)
public final class IdempotencyDisabledAutoConfiguration {

    @Bean
    SmartInitializingSingleton idempotencyDisabledWarning(ConfigurableListableBeanFactory beanFactory) {
        return () -> AnnotatedBeans.warnOfUnprotected(AnnotatedBeans.in(beanFactory), "idempotency.enabled is false");
    }
}
