package io.idempotency.it.jpa;

/** A checked exception: by Spring's rules the transaction commits. */
class NoticeException extends Exception {

    private static final long serialVersionUID = 1L;
}
