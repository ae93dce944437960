/** Listeners of message brokers: what their messages mean to the library, and what its refusals mean to their containers. */
@NullMarked
package io.idempotency.spring.messaging;

import org.jspecify.annotations.NullMarked;
