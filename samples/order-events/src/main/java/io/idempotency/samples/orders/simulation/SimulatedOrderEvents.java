package io.idempotency.samples.orders.simulation;

import io.idempotency.samples.orders.OrderPlaced;
import io.idempotency.samples.orders.order.Order;
import io.idempotency.samples.orders.order.OrderEvents;
import org.springframework.context.annotation.Primary;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.stereotype.Component;

/** Publishes twice or crashes where the real one is done. */
@Component
@Primary
class SimulatedOrderEvents extends OrderEvents {

    private final Simulations simulations;

    SimulatedOrderEvents(KafkaTemplate<String, OrderPlaced> kafka, Simulations simulations) {
        super(kafka);
        this.simulations = simulations;
    }

    @Override
    public void publish(Order order) {
        super.publish(order);
        if (simulations.isDue(order.id(), Simulations.DUPLICATE)) {
            super.publish(order);
        }
        if (simulations.isDue(order.id(), Simulations.CRASH_AFTER_PUBLISH)) {
            Simulations.crash("order " + order.id() + " is published and not marked");
        }
    }
}
