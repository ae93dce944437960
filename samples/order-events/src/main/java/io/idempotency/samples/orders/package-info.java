/** Orders are taken by one half and paid by the other. What they share is the event. */
@NullMarked
package io.idempotency.samples.orders;

import org.jspecify.annotations.NullMarked;
