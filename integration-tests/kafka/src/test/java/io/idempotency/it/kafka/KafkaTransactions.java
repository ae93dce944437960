package io.idempotency.it.kafka;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.stereotype.Component;

/** Transactions of Kafka for a few listeners. Not beans by themselves, or all containers would use them. */
@Component
class KafkaTransactions implements DisposableBean {

    private final DefaultKafkaProducerFactory<String, String> producers;
    private final KafkaTransactionManager<String, String> manager;
    private final KafkaTemplate<String, String> kafka;

    KafkaTransactions(ProducerFactory<String, String> others) {
        producers = new DefaultKafkaProducerFactory<>(others.getConfigurationProperties());
        producers.setTransactionIdPrefix("idempotency-");
        manager = new KafkaTransactionManager<>(producers);
        kafka = new KafkaTemplate<>(producers);
    }

    KafkaTransactionManager<String, String> manager() {
        return manager;
    }

    /** Sends in the transaction of the calling listener. */
    void send(String topic, String value) {
        kafka.send(topic, value);
    }

    @Override
    public void destroy() {
        producers.destroy();
    }
}
