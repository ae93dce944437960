package io.idempotency.engine;

import io.idempotency.spi.Owner;
import java.time.Duration;
import java.util.concurrent.Semaphore;

/**
 * Time, randomness and scheduling of the engine, so that a test can drive every interleaving on one thread. Nothing here decides
 * whether a record is over: only stores do.
 *
 * @since 0.1.0
 */
public interface EngineRuntime extends AutoCloseable {

    /** Monotonic time for elapsed durations and deadlines. */
    long nanoTime();

    /** Suspends the calling thread. */
    void sleep(Duration duration) throws InterruptedException;

    /**
     * Suspends the calling thread until it gets the permit, and no longer than that. A runtime may ignore the permit: it makes
     * waiting shorter, and nothing depends on it.
     */
    default void sleep(Duration atMost, Semaphore permit) throws InterruptedException {
        sleep(atMost);
    }

    /** 128 random bits. */
    Owner newOwner();

    /** Uniform between zero (inclusive) and one (exclusive), to spread what would happen at once on many nodes. */
    double random();

    /** Runs a task once, later, on a thread of the runtime. */
    Scheduled schedule(Duration delay, Runnable task);

    /** Stops the scheduling. Tasks that have not begun do not run any more. */
    @Override
    void close();

    /** The real thing, on daemon threads. */
    static EngineRuntime system() {
        return new SystemRuntime();
    }

    /** A task to come. */
    @FunctionalInterface
    interface Scheduled {

        /** Keeps the task from beginning; one that runs is not interrupted. */
        void cancel();
    }
}
