package io.idempotency.it.listeners;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Holds who comes until it is opened. */
public final class Gate {

    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);

    public void pass() throws InterruptedException {
        reached.countDown();
        open.await(60, TimeUnit.SECONDS);
    }

    /** Waits until somebody is held. False: nobody came. */
    public boolean awaitReached() throws InterruptedException {
        return reached.await(60, TimeUnit.SECONDS);
    }

    public void open() {
        open.countDown();
    }
}
