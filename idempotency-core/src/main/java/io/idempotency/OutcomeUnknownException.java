package io.idempotency;

/**
 * The owner of the key vanished under {@link Guarantee#AT_MOST_ONCE}: whether the work was done is not known. Retrying does not help
 * until a resolver or an operator has decided, or the retention is over.
 *
 * @since 0.1.0
 */
public final class OutcomeUnknownException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    public OutcomeUnknownException(String message) {
        super(ProblemCode.OUTCOME_UNKNOWN, message);
    }
}
