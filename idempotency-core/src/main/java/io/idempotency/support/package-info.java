/** The in-memory store and the stock policies. */
@NullMarked
package io.idempotency.support;

import org.jspecify.annotations.NullMarked;
