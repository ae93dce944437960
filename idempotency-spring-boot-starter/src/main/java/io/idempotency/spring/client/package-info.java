/** The other side of a call: keys for requests that a retry must not repeat. */
@NullMarked
package io.idempotency.spring.client;

import org.jspecify.annotations.NullMarked;
