/** Metrics of what the engine does. */
@NullMarked
package io.idempotency.spring.metrics;

import org.jspecify.annotations.NullMarked;
