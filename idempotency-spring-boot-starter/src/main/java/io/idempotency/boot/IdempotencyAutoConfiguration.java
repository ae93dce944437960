package io.idempotency.boot;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyModes;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotentOperation;
import io.idempotency.engine.DefaultIdempotencyTemplate;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.spi.OutcomePolicy;
import io.idempotency.spi.ResultCodec;
import io.idempotency.spi.ResultTransformer;
import io.idempotency.spring.aop.AmbientKey;
import io.idempotency.spring.aop.IdempotentMethodAdvisor;
import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.spring.aop.Listener;
import io.idempotency.spring.aop.MethodDoor;
import io.idempotency.spring.json.JsonValues;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration for the engine on the application's store, the template, the operators' way to records, and the annotated
 * methods.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyInMemoryAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "idempotency.enabled", matchIfMissing = true)
@EnableConfigurationProperties(IdempotencyProperties.class)
public final class IdempotencyAutoConfiguration {

    @Bean
    static ConfigurationPropertiesBindHandlerAdvisor idempotencySettingsAdvisor(Environment environment) {
        return handler -> new SettingsBindHandler(handler, environment);
    }

    // Singletons are destroyed after every Lifecycle has stopped: renewals and completions outlive the web server's
    // graceful shutdown and the listener containers.
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    IdempotencyEngine idempotencyEngine(
            ConfigurableListableBeanFactory beanFactory,
            IdempotencyProperties properties,
            Environment environment,
            ResultCodecs codecs,
            ObjectProvider<IdempotencyListener> listeners,
            ObjectProvider<ResultTransformer> transformer) {
        IdempotencyEngine.Builder builder = IdempotencyEngine.on(Stores.only(beanFactory, properties))
                .listeners(listeners.orderedStream().toList())
                .codecs(codecs.all());
        transformer.ifAvailable(builder::transformer);
        builder.maxWaiters(WaitingRequests.atOnce(environment));
        return builder.build();
    }

    @Bean
    Operations idempotencyOperations(
            IdempotencyProperties properties,
            IdempotencyEngine engine,
            ObjectProvider<ExactlyOnce> exactlyOnce,
            ObjectProvider<OutcomePolicy> policy) {
        return new Operations(properties, engine.store(), exactlyOnce.getIfAvailable(), policy.getIfAvailable());
    }

    @Bean
    ConfiguredModes idempotencyModes(Operations operations) {
        return new ConfiguredModes(operations);
    }

    @Bean
    ResultCodecs idempotencyResultCodecs(ObjectProvider<ResultCodec> codecs, ObjectProvider<JsonValues> json) {
        return ResultCodecs.of(codecs.orderedStream().toList(), json.getIfAvailable());
    }

    @Bean
    @ConditionalOnMissingBean(IdempotentMethods.class)
    ConfiguredIdempotentMethods idempotentMethods(
            ConfigurableListableBeanFactory beanFactory,
            Environment environment,
            IdempotencyProperties properties,
            Operations operations,
            ConfiguredModes modes,
            ResultCodecs codecs,
            ObjectProvider<HandlerMethods> handlers,
            ObjectProvider<Listener.Kind> listeners,
            ObjectProvider<IdempotentOperation<?>> templateOperations) {
        return new ConfiguredIdempotentMethods(
                beanFactory,
                environment,
                properties,
                operations,
                modes,
                new MethodDoors(
                        beanFactory,
                        handlers.getIfAvailable(() -> HandlerMethods.NONE),
                        properties.web().enabled(),
                        codecs.results(),
                        listeners.orderedStream().toList()),
                () -> templateOperations
                        .orderedStream()
                        .<IdempotentOperation<?>>map(operation -> operation)
                        .toList());
    }

    @Bean
    @ConditionalOnMissingBean
    IdempotencyTemplate idempotencyTemplate(
            IdempotencyEngine engine,
            Operations operations,
            IdempotencyModes modes,
            ResultCodecs codecs,
            ObjectProvider<KeyScopeResolver> scope) {
        return new DefaultIdempotencyTemplate(
                engine, operations::of, scope.getIfAvailable(() -> operation -> ""), codecs.all(), modes::of);
    }

    @Bean
    MethodDoor idempotencyMethodDoor(
            IdempotencyEngine engine,
            IdempotentMethods methods,
            IdempotencyModes modes,
            ResultCodecs codecs,
            ObjectProvider<KeyScopeResolver> scope,
            ObjectProvider<AmbientKey.Source> ambientKeys,
            ObjectProvider<Listener.Kind> listeners) {
        return new MethodDoor(
                engine,
                methods,
                modes::of,
                codecs.results(),
                scope.getIfAvailable(() -> operation -> ""),
                codecs.json(),
                ambientKeys.orderedStream().toList(),
                listeners.orderedStream().toList());
    }

    // Infrastructure, so that Spring Boot's own proxy creator applies it, with and without AspectJ's weaver.
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static IdempotentMethodAdvisor idempotencyMethodAdvisor(ObjectProvider<MethodDoor> door) {
        return new IdempotentMethodAdvisor(door::getObject);
    }

    @Bean
    @ConditionalOnMissingBean
    IdempotencyAdmin idempotencyAdmin(IdempotencyEngine engine) {
        return engine.admin();
    }
}
