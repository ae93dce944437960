package io.idempotency.samples.orders.broker;

import java.nio.file.Path;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/** Brings a broker, unless {@code spring.kafka.bootstrap-servers} names one. */
@Configuration(proxyBeanMethods = false)
@Conditional(EmbeddedBrokerConfiguration.NoBrokerNamed.class)
class EmbeddedBrokerConfiguration {

    @Bean
    EmbeddedBroker embeddedBroker(@Value("${embedded-broker.directory}") Path directory) throws Exception {
        return new EmbeddedBroker(directory);
    }

    static final class NoBrokerNamed extends NoneNestedConditions {

        NoBrokerNamed() {
            super(ConfigurationPhase.PARSE_CONFIGURATION);
        }

        @ConditionalOnProperty("spring.kafka.bootstrap-servers")
        static final class BrokerNamed {}
    }
}
