package io.idempotency.spring.web;

import java.io.IOException;

/** Decides when a response that is held back may go to the client before it is complete. */
interface Passage {

    /** Whether it has to, whatever its size: it is a stream. */
    boolean isStream();

    /**
     * Called once, before the first byte passes.
     *
     * @throws IOException if none may pass, because the client has got another answer
     */
    void open() throws IOException;
}
