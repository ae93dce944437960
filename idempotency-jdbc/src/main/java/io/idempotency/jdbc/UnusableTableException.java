package io.idempotency.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * The table of the store is missing, or the user of the data source may not use it, or it does not keep what the store needs. The
 * message says which, and what to do.
 *
 * @since 0.1.0
 */
public final class UnusableTableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UnusableTableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
