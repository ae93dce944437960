/** The payments sample as real processes on real databases: at the door, crashed anywhere, twice on one database. */
@NullMarked
package io.idempotency.it.payments;

import org.jspecify.annotations.NullMarked;
