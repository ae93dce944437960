package io.idempotency.spring.client;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Time, for tests to run without it. */
interface Pauses {

    Pauses OF_THE_SYSTEM = new Pauses() {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void pause(Duration pause) throws IOException {
            try {
                TimeUnit.NANOSECONDS.sleep(pause.toNanos());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("Interrupted before the call was sent again", e);
            }
        }

        @Override
        public Executor after(Duration pause) {
            return CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS);
        }
    };

    long nanoTime();

    void pause(Duration pause) throws IOException;

    /** Runs what it is given when the pause is over. No thread waits for that. */
    Executor after(Duration pause);
}
