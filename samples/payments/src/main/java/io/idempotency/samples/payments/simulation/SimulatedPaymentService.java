package io.idempotency.samples.payments.simulation;

import io.idempotency.samples.payments.AccountRepository;
import io.idempotency.samples.payments.Payment;
import io.idempotency.samples.payments.PaymentRepository;
import io.idempotency.samples.payments.PaymentRequest;
import io.idempotency.samples.payments.PaymentService;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.context.annotation.Primary;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Is slow, fails or crashes around the real service, inside its transaction. */
@Service
@Primary
class SimulatedPaymentService extends PaymentService {

    private final HttpServletRequest http;

    SimulatedPaymentService(AccountRepository accounts, PaymentRepository payments, HttpServletRequest http) {
        super(accounts, payments);
        this.http = http;
    }

    @Override
    @Transactional
    public Payment pay(PaymentRequest request) {
        sleep(Simulation.slowMillis(http));
        if (Simulation.asksFor(http, Simulation.FAIL_BEFORE)) {
            throw new IllegalStateException("Simulated failure before the payment.");
        }

        Payment payment = super.pay(request);

        if (Simulation.asksFor(http, Simulation.FAIL_AFTER)) {
            throw new IllegalStateException("Simulated failure after the payment was written.");
        }
        if (Simulation.asksFor(http, Simulation.CRASH)) {
            Simulation.crash();
        }
        return payment;
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while slow.", e);
        }
    }
}
