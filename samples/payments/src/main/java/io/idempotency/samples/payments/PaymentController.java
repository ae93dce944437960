package io.idempotency.samples.payments;

import io.idempotency.Idempotent;
import jakarta.validation.Valid;
import java.net.URI;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** The service's HTTP API. */
@RestController
public class PaymentController {

    private final PaymentService service;
    private final PaymentRepository payments;
    private final AccountRepository accounts;

    public PaymentController(PaymentService service, PaymentRepository payments, AccountRepository accounts) {
        this.service = service;
        this.payments = payments;
        this.accounts = accounts;
    }

    @PostMapping("/payments")
    @Idempotent
    public ResponseEntity<Payment> pay(@Valid @RequestBody PaymentRequest request) {
        Payment payment = service.pay(request);
        return ResponseEntity.created(URI.create("/payments/" + payment.id())).body(payment);
    }

    @GetMapping("/payments")
    public List<Payment> payments() {
        return payments.findAll();
    }

    @GetMapping("/payments/{id}")
    public ResponseEntity<Payment> payment(@PathVariable long id) {
        return ResponseEntity.of(payments.find(id));
    }

    @GetMapping("/accounts/{name}")
    public Account account(@PathVariable String name) {
        return accounts.find(name);
    }

    @ExceptionHandler
    ProblemDetail insufficientFunds(InsufficientFundsException failure) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.PAYMENT_REQUIRED, failure.getMessage());
        problem.setTitle("Insufficient funds");
        return problem;
    }
}
