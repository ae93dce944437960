/** Listeners on an embedded broker that speaks the protocol of RabbitMQ. */
package io.idempotency.it.amqp;
