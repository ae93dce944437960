/** Listeners on an embedded broker of JMS. */
package io.idempotency.it.jms;
