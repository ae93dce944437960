package io.idempotency;

import java.util.Map;

/**
 * The modes of the operations of this process, to be switched while it runs. A call has the mode that its operation has when it
 * begins, to its end. Other processes and the next start know nothing of it.
 *
 * <p>What was {@link Mode#OFF} at start stays off, because nothing about it was checked.
 *
 * @since 0.1.0
 */
public interface IdempotencyModes {

    /** The mode of an operation now. */
    Mode of(String operation);

    /** The modes of all operations that are known. */
    Map<String, Mode> all();

    /**
     * Switches all operations that have no mode of their own, by a property or by {@link #set(String, Mode)}.
     *
     * @throws IllegalStateException if they were off at start
     */
    void set(Mode mode);

    /**
     * Gives an operation a mode of its own.
     *
     * @throws IllegalArgumentException if there is no such operation
     * @throws IllegalStateException if it was off at start
     */
    void set(String operation, Mode mode);

    /**
     * Takes back what {@link #set(String, Mode)} has done to an operation.
     *
     * @throws IllegalArgumentException if there is no such operation
     */
    void reset(String operation);
}
