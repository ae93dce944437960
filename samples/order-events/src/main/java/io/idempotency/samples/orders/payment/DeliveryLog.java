package io.idempotency.samples.orders.payment;

import io.idempotency.spi.IdempotencyListener;
import java.time.Duration;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.stereotype.Component;

/** Says what became of each delivery, when it is committed. */
@Component
class DeliveryLog implements RecordInterceptor<Object, Object>, IdempotencyListener {

    private static final Logger log = LoggerFactory.getLogger(DeliveryLog.class);

    // Kafka tells the record, the library tells the outcome, both on the consumer's thread.
    @SuppressWarnings("ThreadLocalUsage") // there is one log
    private final ThreadLocal<@Nullable ConsumerRecord<Object, Object>> delivery = new ThreadLocal<>();

    @Override
    public ConsumerRecord<Object, Object> intercept(
            ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
        delivery.set(record);
        return record;
    }

    @Override
    public void onCallEnded(String operation, String outcome, Duration elapsed) {
        ConsumerRecord<Object, Object> record = delivery.get();
        if (record == null) {
            return; // a request
        }
        String verdict =
                switch (outcome) {
                    case "executed" -> "paid";
                    case "replayed" -> "has been paid, duplicate skipped";
                    default -> outcome;
                };
        log.info("Order {} {} ({}-{}@{})", record.key(), verdict, record.topic(), record.partition(), record.offset());
    }

    @Override
    public void afterRecord(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
        delivery.remove();
    }
}
