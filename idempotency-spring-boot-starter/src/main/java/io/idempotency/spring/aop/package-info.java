/** Annotated methods: how they are found and configured, and the door for those that are called as beans. */
@NullMarked
package io.idempotency.spring.aop;

import org.jspecify.annotations.NullMarked;
