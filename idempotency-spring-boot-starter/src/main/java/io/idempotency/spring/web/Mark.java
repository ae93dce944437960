package io.idempotency.spring.web;

/** How a request of an idempotent handler is handled, on the request for the gate to see. */
sealed interface Mark permits Exchange, ObservedRun, Mark.Unprotected, Mark.Unreadable {

    /** Needs no key: its handler does not require one, or is switched off. */
    record Unprotected(IdempotentHandler handler) implements Mark {}

    /** Has parts that cannot be read, so that it cannot be protected. */
    record Unreadable(IdempotentHandler handler) implements Mark {}
}
