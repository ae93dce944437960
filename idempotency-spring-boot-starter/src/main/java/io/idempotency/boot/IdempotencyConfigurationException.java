package io.idempotency.boot;

import org.jspecify.annotations.Nullable;

/**
 * The application cannot start with idempotency as it is configured. The message names the property or the method, its value, the
 * reason and the remedy.
 *
 * @since 0.1.0
 */
public final class IdempotencyConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    IdempotencyConfigurationException(String problem, String remedy) {
        this(problem, remedy, null);
    }

    IdempotencyConfigurationException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem + ". " + remedy, cause);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** A property whose value cannot be used. */
    static IdempotencyConfigurationException ofProperty(String property, Object value, String reason, String remedy) {
        return ofProperty(property, value, reason, remedy, null);
    }

    static IdempotencyConfigurationException ofProperty(
            String property, Object value, String reason, String remedy, @Nullable Throwable cause) {
        return new IdempotencyConfigurationException(property + " is '" + value + "' and " + reason, remedy, cause);
    }

    /** What is wrong and why. */
    public String problem() {
        return problem;
    }

    /** What to do about it. */
    public String remedy() {
        return remedy;
    }
}
