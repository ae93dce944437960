/** The store on Redis. */
@NullMarked
package io.idempotency.redis;

import org.jspecify.annotations.NullMarked;
