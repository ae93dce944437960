/** Tests of the method door. */
package io.idempotency.spring.aop;
