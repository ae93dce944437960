package io.idempotency.spring.client;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Time, for tests to run without it. */
interface Pauses {

    Pauses OF_THE_THREAD = new Pauses() {
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
    };

    long nanoTime();

    void pause(Duration pause) throws IOException;
}
