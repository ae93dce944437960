package io.idempotency.samples.orders.payment;

import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.samples.orders.OrderPlaced;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/** Has every order paid once: the payment and the fact that the event is done are one transaction. */
@Component
public class PaymentListener {

    private final PaymentService service;

    public PaymentListener(PaymentService service) {
        this.service = service;
    }

    // The topic keeps an event for seven days, and may deliver it again for so long.
    @KafkaListener(topics = OrderPlaced.TOPIC)
    @Idempotent(key = "#event.orderId", guarantee = Guarantee.EXACTLY_ONCE, retention = "8d")
    public void on(OrderPlaced event) {
        service.pay(event);
    }
}
