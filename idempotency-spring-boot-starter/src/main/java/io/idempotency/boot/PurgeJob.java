package io.idempotency.boot;

import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.PurgeableStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Removes expired records at intervals, on a daemon thread of its own, from a store that does not do so itself. A run that fails does
 * not stop the next one.
 */
final class PurgeJob implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(PurgeJob.class);

    private static final Duration LONGEST_STOP = Duration.ofSeconds(10);

    private final IdempotencyStore store;
    private final IdempotencyProperties.Purge settings;
    private final List<IdempotencyListener> listeners;
    private volatile @Nullable ScheduledThreadPoolExecutor executor;

    // Used on the thread of the job alone.
    private Duration lag = Duration.ZERO;
    private long lagMeasuredAt = System.nanoTime();

    PurgeJob(IdempotencyStore store, IdempotencyProperties.Purge settings, List<IdempotencyListener> listeners) {
        this.store = store;
        this.settings = settings;
        this.listeners = List.copyOf(listeners);
    }

    /** Begins last and stops first: what it does is never needed by anything that is starting or ending. */
    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }

    @Override
    public void start() {
        if (!(store instanceof PurgeableStore purgeable)) {
            return;
        }
        ScheduledThreadPoolExecutor started = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "idempotency-purge");
            thread.setDaemon(true);
            return thread;
        });
        started.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor = started;
        scheduleNext(started, purgeable);
    }

    /** Waits for a running batch. It is not interrupted: H2 closes a file whose reader is. */
    @Override
    public void stop() {
        ScheduledThreadPoolExecutor running = executor;
        executor = null;
        if (running == null) {
            return;
        }
        running.shutdown();
        try {
            if (!running.awaitTermination(LONGEST_STOP.toMillis(), TimeUnit.MILLISECONDS)) {
                log.warn("A purge of expired records still runs after {}", Durations.print(LONGEST_STOP));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean isRunning() {
        return executor != null;
    }

    private void scheduleNext(ScheduledThreadPoolExecutor on, PurgeableStore purgeable) {
        // Nodes that were started together must not purge together.
        double spread = ThreadLocalRandom.current().nextDouble(0.9, 1.1);
        long delay = Math.max(1, (long) (settings.interval().toMillis() * spread));
        on.schedule(() -> run(on, purgeable), delay, TimeUnit.MILLISECONDS);
    }

    private void run(ScheduledThreadPoolExecutor on, PurgeableStore purgeable) {
        try {
            purge(on, purgeable);
            lag = purgeable.purgeLag();
            lagMeasuredAt = System.nanoTime();
            tell(listener -> listener.onPurgeRun(lag));
        } catch (RuntimeException e) {
            log.warn("Expired records could not be removed; the next run tries again", e);
            Duration sinceThen = Duration.ofNanos(System.nanoTime() - lagMeasuredAt);
            tell(listener -> listener.onPurgeRun(lag.plus(sinceThen)));
        } finally {
            if (!on.isShutdown()) {
                scheduleNext(on, purgeable);
            }
        }
    }

    private void purge(ScheduledThreadPoolExecutor on, PurgeableStore purgeable) {
        int removed;
        do {
            removed = purgeable.purgeExpired(settings.batchSize());
            if (removed > 0) {
                log.debug("{} expired record(s) removed", removed);
                int count = removed;
                tell(listener -> listener.onPurged(count));
            }
        } while (removed >= settings.batchSize() && !on.isShutdown());
    }

    private void tell(Consumer<IdempotencyListener> event) {
        for (IdempotencyListener listener : listeners) {
            try {
                event.accept(listener);
            } catch (RuntimeException | LinkageError e) {
                log.warn("An idempotency listener threw; the purge goes on", e);
            }
        }
    }
}
