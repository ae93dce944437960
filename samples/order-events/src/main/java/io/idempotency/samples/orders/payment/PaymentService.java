package io.idempotency.samples.orders.payment;

import io.idempotency.samples.orders.OrderPlaced;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Pays orders. Called twice for an order, it would pay twice. */
@Service
public class PaymentService {

    private final PaymentRepository payments;

    public PaymentService(PaymentRepository payments) {
        this.payments = payments;
    }

    @Transactional
    public void pay(OrderPlaced event) {
        payments.add(event.orderId(), event.customer(), event.amount());
    }
}
