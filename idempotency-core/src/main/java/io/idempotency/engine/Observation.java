package io.idempotency.engine;

import io.idempotency.IdempotencyContext;
import io.idempotency.spi.OutcomePolicy.Disposition;

/**
 * One call that runs unprotected while it is found out what would have become of it. Nothing here throws or waits.
 *
 * @since 0.1.0
 */
public interface Observation {

    /** Of a call about which there is nothing more to be found out. */
    Observation NONE = new Observation() {
        @Override
        public IdempotencyContext.Scope bind() {
            return () -> {};
        }

        @Override
        public void ended(Disposition disposition) {}

        @Override
        public void threw(Throwable failure, Disposition otherwise) {}
    };

    /** Until the result is closed, the same key on this thread is a part of this call. */
    IdempotencyContext.Scope bind();

    /** The call has ended, and so it would have been recorded. To be told once. */
    void ended(Disposition disposition);

    /**
     * The action threw. To be told once.
     *
     * @param otherwise what becomes of it where the policy has no opinion
     */
    void threw(Throwable failure, Disposition otherwise);
}
