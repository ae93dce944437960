/** Takes orders and publishes them. */
@NullMarked
package io.idempotency.samples.orders.order;

import org.jspecify.annotations.NullMarked;
