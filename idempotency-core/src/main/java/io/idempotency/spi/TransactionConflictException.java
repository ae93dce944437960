package io.idempotency.spi;

/**
 * The database ended a transaction in favour of another one (serialization failure, deadlock victim) during a statement of the
 * library. The transaction is over; its work may be run again.
 *
 * @since 0.1.0
 */
public final class TransactionConflictException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public TransactionConflictException(String message, Throwable cause) {
        super(message, cause);
    }
}
