package io.idempotency.samples.orders.order;

import io.idempotency.samples.orders.OrderPlaced;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.stereotype.Component;

/** Tells the world of orders. */
@Component
public class OrderEvents {

    private static final Logger log = LoggerFactory.getLogger(OrderEvents.class);

    private final KafkaTemplate<String, OrderPlaced> kafka;

    public OrderEvents(KafkaTemplate<String, OrderPlaced> kafka) {
        this.kafka = kafka;
    }

    /** Returns when the broker has the event. */
    public void publish(Order order) {
        var event = new OrderPlaced(order.id(), order.customer(), order.amount(), order.placedAt());
        // The order is the key of the record, too: its events stay in their order.
        var sent =
                kafka.send(OrderPlaced.TOPIC, String.valueOf(order.id()), event).join();
        log.info("Order {} published ({})", order.id(), sent.getRecordMetadata());
    }
}
