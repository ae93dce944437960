package io.idempotency.boot;

import io.idempotency.IdempotencyModes;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spi.FingerprintStrategy;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.spring.web.HandlerChecks;
import io.idempotency.spring.web.HttpAmbientKey;
import io.idempotency.spring.web.IdempotencyFilter;
import io.idempotency.spring.web.IdempotencyGateAdvisor;
import io.idempotency.spring.web.ProblemWriter;
import io.idempotency.spring.web.RefusalExceptionResolver;
import io.idempotency.spring.web.ReplayExceptionResolver;
import io.idempotency.spring.web.RuleGate;
import io.idempotency.spring.web.StatusPolicy;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.util.EnumSet;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;

/**
 * Auto-configuration for HTTP requests to servlet-based Spring MVC: the filter, and the gate around annotated controller methods.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnClass({Filter.class, RequestMappingInfoHandlerMapping.class})
@ConditionalOnWebApplication(type = Type.SERVLET)
@ConditionalOnBean(IdempotencyEngine.class)
public final class IdempotencyWebAutoConfiguration {

    @Bean
    MvcHandlerMethods idempotencyHandlerMethods(
            ConfigurableListableBeanFactory beanFactory, ObjectProvider<RequestMappingInfoHandlerMapping> mappings) {
        return new MvcHandlerMethods(beanFactory, mappings::stream);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBooleanProperty(name = "idempotency.web.enabled", matchIfMissing = true)
    static class Protection {

        @Bean
        WebConfigurer idempotencyWebConfigurer(
                IdempotencyProperties properties,
                ConfigurableListableBeanFactory beanFactory,
                Environment environment) {
            return new WebConfigurer(properties.web(), beanFactory, environment);
        }

        @Bean
        @ConditionalOnMissingBean(
                value = IdempotencyFilter.class,
                parameterizedContainer = FilterRegistrationBean.class)
        FilterRegistrationBean<IdempotencyFilter> idempotencyFilter(
                IdempotencyEngine engine,
                IdempotentMethods methods,
                IdempotencyModes modes,
                WebConfigurer web,
                Operations operations,
                ApplicationContext context,
                ObjectProvider<KeyScopeResolver> scopeResolver,
                ObjectProvider<StatusPolicy> statusPolicy,
                ObjectProvider<FingerprintStrategy> fingerprintStrategy) {
            IdempotencyFilter.Builder builder = IdempotencyFilter.on(engine, methods, context)
                    .settings(web.settings())
                    .rules(web.rules(operations))
                    .modes(modes::of)
                    .messages(context);
            scopeResolver.ifAvailable(builder::scopeResolver);
            statusPolicy.ifAvailable(builder::statusPolicy);
            fingerprintStrategy.ifAvailable(builder::fingerprintStrategy);
            FilterRegistrationBean<IdempotencyFilter> registration = new FilterRegistrationBean<>(builder.build());
            registration.setOrder(web.order());
            registration.setDispatcherTypes(EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC));
            return registration;
        }

        @Bean
        HttpAmbientKey idempotencyHttpAmbientKey(WebConfigurer web) {
            return new HttpAmbientKey(web.settings());
        }

        @Bean
        WebChecks idempotencyWebChecks(
                ConfigurableListableBeanFactory beanFactory,
                IdempotentMethods methods,
                MvcHandlerMethods handlers,
                WebConfigurer web) {
            return new WebChecks(new HandlerChecks(beanFactory, methods, web.settings()), handlers, methods, web);
        }

        // Infrastructure, so that Spring Boot's own proxy creator applies it, with and without AspectJ's weaver.
        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static IdempotencyGateAdvisor idempotencyGate(
                ObjectProvider<FilterRegistrationBean<IdempotencyFilter>> filter) {
            return new IdempotencyGateAdvisor(() -> filter.getObject().getFilter());
        }

        @Bean
        @ConditionalOnProperty("idempotency.web.rules[0].path")
        static RuleGate idempotencyRuleGate(ObjectProvider<FilterRegistrationBean<IdempotencyFilter>> filter) {
            return new RuleGate(() -> filter.getObject().getFilter());
        }

        @Bean
        ReplayExceptionResolver idempotencyReplayExceptionResolver() {
            return new ReplayExceptionResolver();
        }

        @Bean
        RefusalExceptionResolver idempotencyRefusalExceptionResolver(WebConfigurer web, ApplicationContext context) {
            return new RefusalExceptionResolver(new ProblemWriter(web.settings(), context));
        }
    }
}
