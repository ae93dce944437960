package io.idempotency.spring.aop;

/**
 * How calls of a method come in.
 *
 * @since 0.1.0
 */
public enum Door {

    /** As requests, through the servlet filter and the gate. */
    HTTP,

    /** As calls of a bean, by whomever: other beans, schedulers, listener containers. */
    METHOD
}
