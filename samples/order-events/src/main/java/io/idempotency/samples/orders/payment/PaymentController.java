package io.idempotency.samples.orders.payment;

import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The HTTP API of the payments. */
@RestController
class PaymentController {

    private final PaymentRepository payments;

    PaymentController(PaymentRepository payments) {
        this.payments = payments;
    }

    @GetMapping("/payments")
    List<Payment> payments() {
        return payments.findAll();
    }
}
