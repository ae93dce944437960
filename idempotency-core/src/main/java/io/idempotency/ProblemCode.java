package io.idempotency;

/**
 * The reasons for which a call is refused. Each has exactly one exception and one metric outcome.
 *
 * @since 0.1.0
 */
public enum ProblemCode {
    KEY_MISSING("key-missing"),
    KEY_INVALID("key-invalid"),
    CALLER_UNKNOWN("caller-unknown"),
    KEY_REUSED("key-reused"),
    IN_PROGRESS("in-progress"),
    OUTCOME_UNKNOWN("outcome-unknown"),
    RESULT_NOT_REPLAYABLE("result-not-replayable"),
    DUPLICATE_REJECTED("duplicate-rejected"),
    RESULT_UNREADABLE("result-unreadable"),
    REQUEST_TOO_LARGE("request-too-large"),
    STORE_UNAVAILABLE("store-unavailable");

    private final String code;

    ProblemCode(String code) {
        this.code = code;
    }

    /** The code as clients see it, for example {@code key-reused}. */
    public String code() {
        return code;
    }

    /** The value of the metric tag {@code outcome}: the code with underscores. */
    public String outcome() {
        return code.replace('-', '_');
    }
}
