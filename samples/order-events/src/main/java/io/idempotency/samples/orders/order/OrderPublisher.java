package io.idempotency.samples.orders.order;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Publishes the orders that are committed and not marked as published, oldest first.
 *
 * <p>An event that is sent inside of the transaction may tell of an order that is rolled back afterwards; one that is sent
 * after it, from memory, is lost if the process dies in between. The table forgets nothing: whatever is not marked is sent.
 * If the process dies between the broker's word and the mark, the order is sent again. So is one that two instances find at
 * the same time. An event is told at least once, and its consumers have to be ready for duplicates.
 */
@Component
class OrderPublisher {

    private final OrderRepository orders;
    private final OrderEvents events;

    OrderPublisher(OrderRepository orders, OrderEvents events) {
        this.orders = orders;
        this.events = events;
    }

    @Scheduled(fixedDelay = 200)
    void publishOrders() {
        for (Order order : orders.findUnpublished()) {
            events.publish(order);
            orders.markPublished(order.id());
        }
    }
}
