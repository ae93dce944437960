/** Finds annotated methods and what is configured for them. */
@NullMarked
package io.idempotency.spring.aop;

import org.jspecify.annotations.NullMarked;
