package io.idempotency.boot;

import io.idempotency.engine.IdempotencyEngine;
import jakarta.servlet.Filter;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.annotation.Bean;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;

/**
 * Auto-configuration for HTTP requests to servlet-based Spring MVC.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnClass({Filter.class, RequestMappingInfoHandlerMapping.class})
@ConditionalOnWebApplication(type = Type.SERVLET)
@ConditionalOnBean(IdempotencyEngine.class)
public final class IdempotencyWebAutoConfiguration {

    @Bean
    HandlerMethods idempotencyHandlerMethods(ObjectProvider<RequestMappingInfoHandlerMapping> mappings) {
        return new MvcHandlerMethods(mappings::stream);
    }
}
