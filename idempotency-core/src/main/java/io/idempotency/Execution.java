package io.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * What a call came to.
 *
 * @param value the result: of this run, or of the first one
 * @param replayed whether the value comes from the record, so that the action did not run for this call
 * @since 0.1.0
 */
public record Execution<T extends @Nullable Object>(T value, boolean replayed) {}
