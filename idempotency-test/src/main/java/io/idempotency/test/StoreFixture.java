package io.idempotency.test;

import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.RecordId;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * A store under test and what the contracts have to do to it. A contract makes one before each fact and closes it after; the records
 * of earlier facts may still be there.
 *
 * <p>Only {@link #store()} has to be given. A fact whose hook is missing is skipped.
 *
 * @since 0.1.0
 */
public interface StoreFixture extends AutoCloseable {

    /** The store under test, the same one on every call. */
    IdempotencyStore store();

    /** Another instance on the same records, as another node has it. The same one where records cannot be shared. */
    default IdempotencyStore otherNode() {
        return store();
    }

    /** Lets at least this much time pass on the store's clock. Waits unless it is overridden. */
    default void advance(Duration time) {
        long start = System.nanoTime();
        for (long left = time.toNanos(); left > 0; left = time.toNanos() - (System.nanoTime() - start)) {
            LockSupport.parkNanos(left);
        }
    }

    /**
     * Damages the stored result of a record that is done, as a bad disk or a foreign program would: truncates or alters its bytes.
     *
     * @return whether that was done; {@code false} skips the facts about it
     */
    default boolean breakResult(RecordId id) {
        return false;
    }

    /**
     * Makes the store's server unreachable until {@link #restore()}.
     *
     * @return whether that was done; {@code false} skips the facts about it
     */
    default boolean cut() {
        return false;
    }

    /** Ends what {@link #cut()} did. The records are still there. */
    default void restore() {}

    /** Gives back what belongs to this fixture alone. */
    @Override
    default void close() {}
}
