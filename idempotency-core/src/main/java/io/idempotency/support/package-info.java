/** Stock implementations of the SPIs: the in-memory store, codecs and policies. */
@NullMarked
package io.idempotency.support;

import org.jspecify.annotations.NullMarked;
