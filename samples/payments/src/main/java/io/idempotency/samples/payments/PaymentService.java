package io.idempotency.samples.payments;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Makes payments: the row and the new balance are one transaction. */
@Service
public class PaymentService {

    private final AccountRepository accounts;
    private final PaymentRepository payments;

    public PaymentService(AccountRepository accounts, PaymentRepository payments) {
        this.accounts = accounts;
        this.payments = payments;
    }

    @Transactional
    public Payment pay(PaymentRequest request) {
        if (!accounts.withdraw(request.account(), request.amount())) {
            throw new InsufficientFundsException(request.account());
        }
        return payments.add(request.account(), request.amount(), request.currency());
    }
}
