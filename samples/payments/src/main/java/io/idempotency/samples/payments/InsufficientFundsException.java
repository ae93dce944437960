package io.idempotency.samples.payments;

/** The account holds less than the payment asks for. */
public class InsufficientFundsException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public InsufficientFundsException(String account) {
        super("The balance of account " + account + " is too low for this payment.");
    }
}
