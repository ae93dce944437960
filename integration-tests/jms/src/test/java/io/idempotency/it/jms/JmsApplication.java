package io.idempotency.it.jms;

import io.idempotency.it.listeners.Ledger;
import io.idempotency.it.listeners.Work;
import jakarta.jms.ConnectionFactory;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;
import org.springframework.boot.artemis.autoconfigure.ArtemisConfigurationCustomizer;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.jms.autoconfigure.DefaultJmsListenerContainerFactoryConfigurer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jms.config.DefaultJmsListenerContainerFactory;
import org.springframework.util.backoff.FixedBackOff;

@SpringBootApplication
@Import({Ledger.class, Work.class})
class JmsApplication {

    static final int MAX_DELIVERIES = 5;

    @Bean
    ArtemisConfigurationCustomizer addresses() {
        return configuration -> {
            configuration.addAddressSetting("#", settings(MAX_DELIVERIES));
            configuration.addAddressSetting("gated", settings(-1));
        };
    }

    private static AddressSettings settings(int maxDeliveries) {
        return new AddressSettings()
                .setMaxDeliveryAttempts(maxDeliveries)
                .setRedeliveryDelay(20)
                .setDeadLetterAddress(SimpleString.of("DLQ"));
    }

    @Bean
    DefaultJmsListenerContainerFactory jmsListenerContainerFactory(
            DefaultJmsListenerContainerFactoryConfigurer configurer,
            ConnectionFactory connections,
            Deliveries deliveries) {
        // One message at a time, so that a duplicate is delivered to the other consumer.
        ((ActiveMQConnectionFactory) connections).setConsumerWindowSize(0);
        DefaultJmsListenerContainerFactory factory = new DefaultJmsListenerContainerFactory();
        configurer.configure(factory, connections);
        factory.setMessageConverter(deliveries);
        factory.setBackOff(new FixedBackOff(100, FixedBackOff.UNLIMITED_ATTEMPTS));
        return factory;
    }
}
