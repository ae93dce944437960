package io.idempotency.it.jpa;

/** The business says no: a runtime exception, so it rolls back. */
class RefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;
}
