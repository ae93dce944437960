/** Applies the engine to annotated bean methods. */
@NullMarked
package io.idempotency.spring.aop;

import org.jspecify.annotations.NullMarked;
