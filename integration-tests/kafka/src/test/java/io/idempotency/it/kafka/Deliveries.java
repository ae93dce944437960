package io.idempotency.it.kafka;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.stereotype.Component;

/** What has been delivered, by topic, whether the listener was called or not. */
@Component
class Deliveries implements RecordInterceptor<Object, Object> {

    private final Map<String, Integer> byTopic = new ConcurrentHashMap<>();

    @Override
    public ConsumerRecord<Object, Object> intercept(
            ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
        byTopic.merge(record.topic(), 1, Integer::sum);
        return record;
    }

    int of(String topic) {
        return byTopic.getOrDefault(topic, 0);
    }
}
