package io.idempotency.spi;

/**
 * A commit did not succeed.
 *
 * @since 0.1.0
 */
public final class CommitFailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Kind kind;
    private final RuntimeException failure;

    public CommitFailedException(Kind kind, RuntimeException failure) {
        super("commit failed: " + kind, failure);
        this.kind = kind;
        this.failure = failure;
    }

    /** What is known about the transaction. */
    public Kind kind() {
        return kind;
    }

    /** What the transaction manager threw: what the caller gets in the end. */
    public RuntimeException failure() {
        return failure;
    }

    /** What is known about the transaction. */
    public enum Kind {
        /** The database refused it and rolled back. */
        ROLLED_BACK,
        /** The database rolled it back in favour of another one: the same work may succeed now. */
        CONFLICT,
        /** The answer was lost: it may be committed. */
        UNKNOWN
    }
}
