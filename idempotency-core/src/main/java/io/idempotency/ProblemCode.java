package io.idempotency;

/**
 * The reasons for which a call is refused. Each has exactly one exception and one metric outcome.
 *
 * @since 0.1.0
 */
public enum ProblemCode {

    /** {@link MissingIdempotencyKeyException}. */
    KEY_MISSING("key-missing"),

    /** {@link InvalidIdempotencyKeyException}. */
    KEY_INVALID("key-invalid"),

    /** {@link UnknownCallerException}. */
    CALLER_UNKNOWN("caller-unknown"),

    /** {@link KeyReusedException}. */
    KEY_REUSED("key-reused"),

    /** {@link OperationInProgressException}. */
    IN_PROGRESS("in-progress"),

    /** {@link OutcomeUnknownException}. */
    OUTCOME_UNKNOWN("outcome-unknown"),

    /** {@link ResultNotReplayableException}. */
    RESULT_NOT_REPLAYABLE("result-not-replayable"),

    /** {@link DuplicateRejectedException}. */
    DUPLICATE_REJECTED("duplicate-rejected"),

    /** {@link ResultUnreadableException}. */
    RESULT_UNREADABLE("result-unreadable"),

    /** {@link RequestTooLargeException}. */
    REQUEST_TOO_LARGE("request-too-large"),

    /** {@link StoreUnavailableException}. */
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
