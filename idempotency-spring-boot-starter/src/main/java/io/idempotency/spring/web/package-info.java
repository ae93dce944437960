/** Applies the engine to HTTP exchanges: the servlet filter and the gate. */
@NullMarked
package io.idempotency.spring.web;

import org.jspecify.annotations.NullMarked;
