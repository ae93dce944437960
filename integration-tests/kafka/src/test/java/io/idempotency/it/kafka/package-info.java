/** Listeners on an embedded Kafka. */
package io.idempotency.it.kafka;
