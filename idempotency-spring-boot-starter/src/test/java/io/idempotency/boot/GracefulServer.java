package io.idempotency.boot;

import org.springframework.context.SmartLifecycle;

/** In the phase in which Spring Boot shuts its web server down. */
record GracefulServer(Runnable shutdown) implements SmartLifecycle {

    @Override
    public void start() {}

    @Override
    public void stop() {
        shutdown.run();
    }

    @Override
    public boolean isRunning() {
        return true;
    }

    @Override
    public int getPhase() {
        return SmartLifecycle.DEFAULT_PHASE - 1024;
    }
}
