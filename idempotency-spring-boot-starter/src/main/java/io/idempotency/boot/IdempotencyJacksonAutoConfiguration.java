package io.idempotency.boot;

import io.idempotency.spring.json.Jackson2Values;
import io.idempotency.spring.json.Jackson3Values;
import io.idempotency.spring.json.JsonValues;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

/**
 * Auto-configuration for results and arguments as JSON: on Jackson 3, or on Jackson 2 where that is what the application has. Only its
 * modules are taken from the application; settings of its mappers do not reach what is stored.
 *
 * @since 0.1.0
 */
@AutoConfiguration(before = IdempotencyAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "idempotency.enabled", matchIfMissing = true)
public final class IdempotencyJacksonAutoConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(tools.jackson.databind.json.JsonMapper.class)
    @ConditionalOnMissingBean(JsonValues.class)
    @Order(1)
    static class Jackson3 {

        @Bean
        Jackson3Values idempotencyJsonValues(ObjectProvider<tools.jackson.databind.JacksonModule> modules) {
            return new Jackson3Values(modules.orderedStream().toList());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(com.fasterxml.jackson.databind.json.JsonMapper.class)
    @ConditionalOnMissingBean(JsonValues.class)
    @Order(2)
    static class Jackson2 {

        @Bean
        Jackson2Values idempotencyJsonValues(ObjectProvider<com.fasterxml.jackson.databind.Module> modules) {
            return new Jackson2Values(modules.orderedStream().toList());
        }
    }
}
