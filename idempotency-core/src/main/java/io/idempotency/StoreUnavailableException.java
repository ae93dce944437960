package io.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * The store could not answer, or its answer got lost. Nothing may be inferred from it about the record: a write that ended so may
 * have happened or not.
 *
 * @since 0.1.0
 */
public final class StoreUnavailableException extends IdempotencyException {

    private static final long serialVersionUID = 1L;

    public StoreUnavailableException(String message, @Nullable Throwable cause) {
        super(ProblemCode.STORE_UNAVAILABLE, message, cause);
    }
}
