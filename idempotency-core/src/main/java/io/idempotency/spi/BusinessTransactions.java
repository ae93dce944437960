package io.idempotency.spi;

import org.jspecify.annotations.Nullable;

/**
 * The transactions of one operation: of its transaction manager, with its attributes and rollback rules.
 *
 * @since 0.1.0
 */
public interface BusinessTransactions {

    /** Whether the application has a transaction open on this thread and this manager. */
    boolean isOpen();

    /** Whether that open transaction is read-only, so that nothing can be recorded in it. */
    boolean isOpenReadOnly();

    /** Whether the transactions that {@link #inNew} opens are SERIALIZABLE. */
    boolean serializable();

    /** Whether the rollback rules want a rollback for what the action threw. */
    boolean rollsBackOn(Throwable failure);

    /** The transaction that is open on this thread. Only to be called where {@link #isOpen()}. */
    Handle open();

    /**
     * Opens a transaction on this thread, runs the work in it and ends it: by rollback if the work throws or has marked it, else by
     * commit.
     *
     * @throws io.idempotency.StoreUnavailableException if no transaction could be begun; the work did not run
     * @throws CommitFailedException if the commit failed
     * @throws Throwable what the work throws, unchanged
     */
    <R extends @Nullable Object> R inNew(Work<R> work) throws Throwable;

    /** Work in a transaction. */
    @FunctionalInterface
    interface Work<R extends @Nullable Object> {

        /** Runs on the thread and in the transaction of the handle. */
        R run(Handle transaction) throws Throwable;
    }

    /** A running transaction. */
    interface Handle {

        /** Whether it can only end in a rollback, because somebody marked it. */
        boolean isRollbackOnly();

        /** Makes it end in a rollback. */
        void setRollbackOnly();

        /**
         * Work below the action that ran outside of this transaction, for example a {@code REQUIRES_NEW} method; {@code null} if
         * none was seen.
         */
        @Nullable
        String workOutside();
    }
}
