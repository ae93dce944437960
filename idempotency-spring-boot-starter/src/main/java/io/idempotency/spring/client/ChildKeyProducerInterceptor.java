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
 * no key is added.
 *
 * <p>The key contains the topic and the how-manieth record for it this attempt sends: every attempt must send to a topic in the same
 * order, by one thread.
 *
 * @since 0.1.0
 */
public final class ChildKeyProducerInterceptor<K, V> implements ProducerInterceptor<K, V> {

    private final String header;
    private final @Nullable RequestId requestId;

    /** Sends the key as {@code Idempotency-Key}. */
    public ChildKeyProducerInterceptor() {
        this("Idempotency-Key");
    }

    public ChildKeyProducerInterceptor(String header) {
        this(header, null);
    }

    private ChildKeyProducerInterceptor(String header, @Nullable RequestId requestId) {
        this.header = header;
        this.requestId = requestId;
    }

    /**
     * One that also sends the id of the request that is being served, as the logging context has it: with every record that has none,
     * inside of an action or not.
     */
    public ChildKeyProducerInterceptor<K, V> withRequestId(String mdcKey, String header) {
        return new ChildKeyProducerInterceptor<>(this.header, new RequestId(mdcKey, header));
    }

    @Override
    public ProducerRecord<K, V> onSend(ProducerRecord<K, V> record) {
        if (record.headers().lastHeader(header) == null) {
            IdempotencyContext.current()
                    .ifPresent(context -> add(record, header, ChildKeys.next(context, "kafka " + record.topic())));
        }
        String id = requestId == null ? null : requestId.current();
        if (requestId != null && id != null && record.headers().lastHeader(requestId.header()) == null) {
            add(record, requestId.header(), id);
        }
        return record;
    }

    private static void add(ProducerRecord<?, ?> record, String header, String value) {
        record.headers().add(header, value.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public void onAcknowledgement(@Nullable RecordMetadata metadata, @Nullable Exception failure) {}

    @Override
    public void close() {}

    @Override
    public void configure(Map<String, ?> configuration) {}
}
