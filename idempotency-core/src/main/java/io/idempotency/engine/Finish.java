package io.idempotency.engine;

import io.idempotency.spi.StoredResult;

/**
 * How an attempt ends that did not throw.
 *
 * @since 0.1.0
 */
public sealed interface Finish {

    /**
     * Duplicates get this result.
     *
     * @param result what is stored
     * @param standsAfterRollback whether it stays the answer if the transaction can only be rolled back: a refusal does, a success
     *     does not
     */
    record Store(StoredResult result, boolean standsAfterRollback) implements Finish {}

    /** Nothing is stored, a transaction is rolled back, a retry runs again now. */
    record Release() implements Finish {}

    /** The outcome is not known: a transaction is rolled back; a leased record stays until its lease is over. */
    record Hold() implements Finish {}
}
