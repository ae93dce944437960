package io.idempotency.it.kafka;

import io.idempotency.it.listeners.Ledger;
import io.idempotency.it.listeners.Work;
import io.idempotency.spring.client.ChildKeyProducerInterceptor;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
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
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
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
    ConcurrentKafkaListenerContainerFactory<Object, Object> recordFactory(
            ConsumerFactory<Object, Object> consumers, Deliveries deliveries, DefaultErrorHandler errorHandler) {
        ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                new ConcurrentKafkaListenerContainerFactory<>();
        factory.setConsumerFactory(consumers);
        factory.setCommonErrorHandler(errorHandler);
        factory.setRecordInterceptor(deliveries);
        factory.getContainerProperties().setAckMode(AckMode.RECORD);
        return factory;
    }

    // As the manual advises: what still runs is delivered again without end.
    @Bean
    ConcurrentKafkaListenerContainerFactory<Object, Object> transactionalFactory(
            ConsumerFactory<Object, Object> consumers, KafkaTransactions transactions, Deliveries deliveries) {
        ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                new ConcurrentKafkaListenerContainerFactory<>();
        factory.setConsumerFactory(consumers);
        factory.setRecordInterceptor(deliveries);
        factory.setAfterRollbackProcessor(
                new DefaultAfterRollbackProcessor<>(new FixedBackOff(50, FixedBackOff.UNLIMITED_ATTEMPTS)));
        factory.getContainerProperties().setKafkaAwareTransactionManager(transactions.manager());
        return factory;
    }

    @Bean
    SmartInitializingSingleton messages(
            KafkaTemplate<String, String> kafka, ConsumerFactory<String, String> consumers) {
        return () -> {
            kafka.setProducerInterceptor(
                    new ChildKeyProducerInterceptor<String, String>().withRequestId("requestId", "X-Request-Id"));
            kafka.setConsumerFactory(consumers);
        };
    }

    @Bean
    NewTopics topics() {
        return new NewTopics(Stream.of(Listeners.TOPICS, TransactionalListeners.TOPICS)
                .flatMap(Arrays::stream)
                .map(name -> TopicBuilder.name(name).partitions(3).replicas(1).build())
                .toArray(NewTopic[]::new));
    }
}
