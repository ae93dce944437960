/** What a store and the users' own policies implement. */
@NullMarked
package io.idempotency.spi;

import org.jspecify.annotations.NullMarked;
