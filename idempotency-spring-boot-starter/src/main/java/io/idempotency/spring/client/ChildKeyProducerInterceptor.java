package io.idempotency.spring.client;

import io.idempotency.IdempotencyContext;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Gives records that an idempotent action sends a key that is the same on every attempt, so that their consumers recognise what a later
 * attempt sends again. For {@code KafkaTemplate.setProducerInterceptor}. A record that has a key header keeps it; outside of an action
 * nothing is added.
 *
 * <p>The key contains the topic and the how-manieth record for it this attempt sends: every attempt must send to a topic in the same
 * order, by one thread.
 *
 * @since 0.1.0
 */
public final class ChildKeyProducerInterceptor<K, V> implements ProducerInterceptor<K, V> {

    private final String header;

    /** Sends the key as {@code Idempotency-Key}. */
    public ChildKeyProducerInterceptor() {
        this("Idempotency-Key");
    }

    public ChildKeyProducerInterceptor(String header) {
        this.header = header;
    }

    @Override
    public ProducerRecord<K, V> onSend(ProducerRecord<K, V> record) {
        if (record.headers().lastHeader(header) == null) {
            IdempotencyContext.current()
                    .map(context -> ChildKeys.next(context, "kafka " + record.topic()))
                    .ifPresent(key -> record.headers().add(header, key.getBytes(StandardCharsets.US_ASCII)));
        }
        return record;
    }

    @Override
    public void onAcknowledgement(@Nullable RecordMetadata metadata, @Nullable Exception failure) {}

    @Override
    public void close() {}

    @Override
    public void configure(Map<String, ?> configuration) {}
}
