package io.idempotency.boot;

import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.spring.web.IdempotencyOpenApiCustomizer;
import io.idempotency.spring.web.ProblemWriter;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration for the OpenAPI document of springdoc, where the application has it: idempotent handlers are described in it.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyWebAutoConfiguration.class)
@ConditionalOnClass(GlobalOpenApiCustomizer.class)
@ConditionalOnBean(WebConfigurer.class)
public final class IdempotencyOpenApiAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    IdempotencyOpenApiCustomizer idempotencyOpenApiCustomizer(
            IdempotentMethods methods, WebConfigurer web, Operations operations, ApplicationContext context) {
        return new IdempotencyOpenApiCustomizer(
                methods, web.rules(operations), web.settings(), new ProblemWriter(web.settings(), context));
    }
}
