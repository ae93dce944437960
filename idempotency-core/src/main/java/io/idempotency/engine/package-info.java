/** Every rule of the library: mismatch, replay, wait, renew, release, hold. No Spring and no I/O of its own. */
@NullMarked
package io.idempotency.engine;

import org.jspecify.annotations.NullMarked;
