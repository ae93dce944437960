/** A payment service that anybody would recognise. */
@NullMarked
package io.idempotency.samples.payments;

import org.jspecify.annotations.NullMarked;
