/** Pays orders when it is told of them. */
@NullMarked
package io.idempotency.samples.orders.payment;

import org.jspecify.annotations.NullMarked;
