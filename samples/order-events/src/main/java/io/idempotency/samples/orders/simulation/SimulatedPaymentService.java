package io.idempotency.samples.orders.simulation;

import io.idempotency.samples.orders.OrderPlaced;
import io.idempotency.samples.orders.payment.PaymentRepository;
import io.idempotency.samples.orders.payment.PaymentService;
import org.springframework.context.annotation.Primary;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Crashes right after the commit of the real one. */
@Service
@Primary
class SimulatedPaymentService extends PaymentService {

    private final Simulations simulations;

    SimulatedPaymentService(PaymentRepository payments, Simulations simulations) {
        super(payments);
        this.simulations = simulations;
    }

    @Override
    @Transactional
    public void pay(OrderPlaced event) {
        super.pay(event);
        if (simulations.isDue(event.orderId(), Simulations.CRASH_AFTER_COMMIT)) {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    Simulations.crash("order " + event.orderId() + " is paid and not acknowledged");
                }
            });
        }
    }
}
