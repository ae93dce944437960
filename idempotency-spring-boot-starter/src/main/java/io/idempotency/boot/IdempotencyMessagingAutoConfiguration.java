package io.idempotency.boot;

import com.rabbitmq.client.Channel;
import io.idempotency.spring.messaging.JmsListeners;
import io.idempotency.spring.messaging.KafkaContainers;
import io.idempotency.spring.messaging.KafkaListeners;
import io.idempotency.spring.messaging.MessageFunctions;
import io.idempotency.spring.messaging.RabbitListeners;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.retrytopic.DestinationTopicResolver;
import org.springframework.messaging.Message;

/**
 * Auto-configuration for listeners of Kafka, RabbitMQ and JMS, and for functions that take messages of Spring.
 *
 * @since 0.1.0
 */
@AutoConfiguration(before = IdempotencyAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnClass(Message.class)
public final class IdempotencyMessagingAutoConfiguration {

    private static final String KEY_HEADER = "Idempotency-Key";

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(KafkaListener.class)
    static class Kafka {

        @Bean
        @Order(0)
        KafkaListeners idempotencyKafkaListeners() {
            return new KafkaListeners(KEY_HEADER);
        }

        @Bean
        KafkaContainers idempotencyKafkaContainers(
                ObjectProvider<KafkaListenerEndpointRegistry> registries,
                ObjectProvider<DestinationTopicResolver> retryTopics) {
            return new KafkaContainers(registries::stream, retryTopics::stream);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({RabbitListener.class, Channel.class})
    static class Rabbit {

        @Bean
        @Order(0)
        RabbitListeners idempotencyRabbitListeners(ObjectProvider<RabbitListenerEndpointRegistry> registries) {
            return new RabbitListeners(KEY_HEADER, registries::stream);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({JmsListener.class, jakarta.jms.Message.class})
    static class Jms {

        @Bean
        @Order(0)
        JmsListeners idempotencyJmsListeners() {
            return new JmsListeners(KEY_HEADER);
        }
    }

    // The last: a listener of a broker may take a Message as well.
    @Bean
    @Order(1)
    MessageFunctions idempotencyMessageFunctions() {
        return new MessageFunctions(KEY_HEADER);
    }
}
