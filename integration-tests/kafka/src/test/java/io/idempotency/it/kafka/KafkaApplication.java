package io.idempotency.it.kafka;

import io.idempotency.it.listeners.Ledger;
import io.idempotency.it.listeners.Work;
import io.idempotency.spring.client.ChildKeyProducerInterceptor;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.admin.NewTopic;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.KafkaAdmin.NewTopics;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.util.backoff.FixedBackOff;

@SpringBootApplication
@Import({Ledger.class, Work.class})
class KafkaApplication {

    /** What the application's own error handler has given up. */
    static final List<String> GIVEN_UP = new CopyOnWriteArrayList<>();

    @Bean
    DefaultErrorHandler errorHandler() {
        return new DefaultErrorHandler(
                (record, failure) -> GIVEN_UP.add(record.topic() + " " + record.value()), new FixedBackOff(10, 5));
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<String, String> manualFactory(ConsumerFactory<String, String> consumers) {
        ConcurrentKafkaListenerContainerFactory<String, String> factory =
                new ConcurrentKafkaListenerContainerFactory<>();
        factory.setConsumerFactory(consumers);
        factory.getContainerProperties().setAckMode(AckMode.MANUAL);
        return factory;
    }

    @Bean
    SmartInitializingSingleton childKeys(KafkaTemplate<String, String> kafka) {
        return () -> kafka.setProducerInterceptor(new ChildKeyProducerInterceptor<>());
    }

    @Bean
    NewTopics topics() {
        return new NewTopics(Arrays.stream(Listeners.TOPICS)
                .map(name -> TopicBuilder.name(name).partitions(3).replicas(1).build())
                .toArray(NewTopic[]::new));
    }
}
