/** A Kafka broker inside of the application, for those who have none. */
@NullMarked
package io.idempotency.samples.orders.broker;

import org.jspecify.annotations.NullMarked;
