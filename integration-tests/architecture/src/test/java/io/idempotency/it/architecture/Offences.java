package io.idempotency.it.architecture;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;

/** Classes that break every rule, to show that each rule sees it. */
final class Offences {

    private Offences() {}

    @Component
    static final class NameManager {

        @Autowired
        @Nullable
        private String injected;

        List<String> lower(List<String> names) {
            return names.stream().map(String::toLowerCase).collect(Collectors.toList());
        }
    }

    @AutoConfiguration(after = AopAutoConfiguration.class)
    @ConfigurationProperties(prefix = "offence")
    static class Misnamed {

        @Bean
        @ConditionalOnClass(Component.class)
        @ConditionalOnMissingBean(String.class)
        public String bean() {
            return "";
        }

        @Bean
        BeanPostProcessor postProcessor() {
            return new BeanPostProcessor() {};
        }

        @Bean
        Hidden hidden() {
            return new Hidden();
        }

        private static final class Hidden {}
    }
}
