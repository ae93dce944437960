package io.idempotency.test;

import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionalStore;
import org.jspecify.annotations.Nullable;

/**
 * A store that can be part of the application's transactions, its database, and a table of the application in it.
 *
 * @since 0.1.0
 */
public interface TransactionalStoreFixture extends StoreFixture {

    @Override
    TransactionalStore store();

    /**
     * Runs the work on the calling thread in a new transaction that is bound to it, and ends the transaction: by rollback if the work
     * throws or has marked it, else by commit. Several threads do this at once, each on a connection of its own.
     *
     * @throws Exception what the work throws, unchanged, or what the commit throws
     */
    <R extends @Nullable Object> R inTransaction(Opening opening, Work<R> work) throws Exception;

    /** Adds a row with this text to the application's table, in the transaction of the calling thread. */
    void addBusinessRow(String text);

    /** How many committed rows have this text. Reads on a connection of its own. */
    long businessRows(String text);

    /**
     * Commits a finished record for this key past the locks of a claim in a running transaction, as a program would that does not
     * know of them. Must not wait.
     *
     * @return whether that was done; {@code false}, and the facts about it are skipped, where the claim itself holds the row
     */
    default boolean forceResult(RecordId id, StoredResult result) {
        return false;
    }

    /** Who opens a transaction. */
    enum Opening {
        /** The library, around the method. */
        BY_LIBRARY,
        /** The library, for a method that asks for SERIALIZABLE. */
        BY_LIBRARY_SERIALIZABLE,
        /** The application, with the isolation that its database has by default. */
        BY_APPLICATION
    }

    /** Work in a transaction. */
    @FunctionalInterface
    interface Work<R extends @Nullable Object> {

        /** Runs on the thread of the transaction. */
        R run(Transaction transaction) throws Exception;
    }

    /** The transaction of the calling thread. */
    @FunctionalInterface
    interface Transaction {

        /** Makes it end in a rollback. */
        void setRollbackOnly();
    }
}
