/** Tests of what is special to listeners of a broker. */
package io.idempotency.spring.messaging;
