/** What runs inside the sample's process, put there by the class path: failpoints and a wrong clock. */
@NullMarked
package io.idempotency.it.payments.child;

import org.jspecify.annotations.NullMarked;
