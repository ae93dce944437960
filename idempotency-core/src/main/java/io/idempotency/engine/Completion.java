package io.idempotency.engine;

import io.idempotency.spi.StoredResult;
import java.time.Duration;

/**
 * What a call came to, as far as the record is concerned.
 *
 * @since 0.1.0
 */
public sealed interface Completion {

    /**
     * The work ran for this call and its own result is the answer.
     *
     * @param stored whether duplicates will get it
     * @param rolledBack whether its transaction was rolled back although the work did not throw
     */
    record Executed(boolean stored, boolean rolledBack) implements Completion {}

    /**
     * The record's result is the answer: the work did not run for this call, or what it did was lost to another attempt.
     *
     * @param result the stored result, restored by its transformer
     * @param retentionLeft until the record counts as absent
     */
    record Replayed(StoredResult result, Duration retentionLeft) implements Completion {}
}
