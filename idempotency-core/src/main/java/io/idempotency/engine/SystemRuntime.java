package io.idempotency.engine;

import io.idempotency.spi.Owner;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

final class SystemRuntime implements EngineRuntime {

    // Renewals block on the store, so that one thread would let a slow answer delay every other lease.
    private static final int THREADS = 4;

    private final SecureRandom secureRandom = new SecureRandom();
    private final ScheduledThreadPoolExecutor scheduler;

    SystemRuntime() {
        AtomicInteger number = new AtomicInteger();
        scheduler = new ScheduledThreadPoolExecutor(THREADS, task -> {
            Thread thread = new Thread(task, "idempotency-lease-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
        scheduler.setRemoveOnCancelPolicy(true);
        scheduler.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        scheduler.setKeepAliveTime(30, TimeUnit.SECONDS);
        scheduler.allowCoreThreadTimeOut(true);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void sleep(Duration duration) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(duration.toNanos());
    }

    @Override
    public void sleep(Duration atMost, Semaphore permit) throws InterruptedException {
        if (permit.tryAcquire(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
            permit.drainPermits();
        }
    }

    @Override
    public Owner newOwner() {
        return new Owner(new UUID(secureRandom.nextLong(), secureRandom.nextLong()));
    }

    @Override
    public double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        if (scheduler.isShutdown()) {
            return () -> {};
        }
        Future<?> future = scheduler.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
        return () -> future.cancel(false);
    }

    @Override
    public void close() {
        scheduler.shutdown();
    }
}
