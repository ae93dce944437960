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

    private final String problem;
    private final String remedy;

    UnusableTableException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem + ". " + remedy, cause);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** Which table of which schema, for which user, and what is wrong with it. */
    public String problem() {
        return problem;
    }

    /** What to do: the property, the script in the jar, the lines for Flyway and Liquibase, the rights. */
    public String remedy() {
        return remedy;
    }
}
