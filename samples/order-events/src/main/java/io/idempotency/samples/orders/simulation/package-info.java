/** Duplicates and crashes on demand, by the request header {@code X-Simulate}. Nothing else knows of them. */
@NullMarked
package io.idempotency.samples.orders.simulation;

import org.jspecify.annotations.NullMarked;
