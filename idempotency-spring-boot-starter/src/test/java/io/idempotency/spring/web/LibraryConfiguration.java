package io.idempotency.spring.web;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spring.aop.IdempotentMethods;
import jakarta.servlet.DispatcherType;
import java.util.EnumSet;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;

/** The filter and the gate, wired by hand. */
@Configuration(proxyBeanMethods = false)
@Import(WebConfiguration.class)
class LibraryConfiguration {

    @Bean
    FilterRegistrationBean<IdempotencyFilter> idempotencyFilter(
            IdempotencyEngine engine,
            IdempotentMethods methods,
            ListableBeanFactory beanFactory,
            ObjectProvider<WebSettings> settings,
            ObjectProvider<StatusPolicy> statusPolicy,
            ObjectProvider<io.idempotency.spi.KeyScopeResolver> scope,
            ObjectProvider<PathRule> rules,
            ObjectProvider<io.idempotency.spi.FingerprintStrategy> fingerprintStrategy) {
        IdempotencyFilter.Builder builder = IdempotencyFilter.on(engine, methods, beanFactory)
                .rules(rules.orderedStream().toList());
        fingerprintStrategy.ifAvailable(builder::fingerprintStrategy);
        settings.ifAvailable(builder::settings);
        statusPolicy.ifAvailable(builder::statusPolicy);
        scope.ifAvailable(builder::scopeResolver);
        FilterRegistrationBean<IdempotencyFilter> registration = new FilterRegistrationBean<>(builder.build());
        registration.setOrder(IdempotencyFilter.DEFAULT_ORDER);
        registration.setDispatcherTypes(EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC));
        return registration;
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static IdempotencyGateAdvisor idempotencyGate(ObjectProvider<FilterRegistrationBean<IdempotencyFilter>> filter) {
        return new IdempotencyGateAdvisor(() -> filter.getObject().getFilter());
    }

    @Bean
    ReplayExceptionResolver replayExceptionResolver() {
        return new ReplayExceptionResolver();
    }
}
