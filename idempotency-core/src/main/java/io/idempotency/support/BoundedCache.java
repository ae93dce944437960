package io.idempotency.support;

import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.ResultCache;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Uses a cache without ever waiting long for it, whatever timeouts its driver has: asks on threads of its own, gives up after a moment,
 * and then leaves it alone until a probe in the background has found that it answers again. Copies are written in the background, or
 * not at all.
 */
final class BoundedCache implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(BoundedCache.class);
    private static final RecordId NOBODYS = RecordId.of("", "", "");
    private static final int READERS = 8;
    private static final int MOST_READS_WAITING = 256;
    private static final int MOST_WRITES_WAITING = 128;

    private final ResultCache cache;
    private final Duration patience;
    private final Breaker breaker = new Breaker(System::nanoTime);
    private final ThreadPoolExecutor readers = threads("idempotency-cache-read", READERS, MOST_READS_WAITING);
    private final ThreadPoolExecutor writer = threads("idempotency-cache-write", 1, MOST_WRITES_WAITING);

    /** @param patience how long a call waits for an answer at most */
    BoundedCache(ResultCache cache, Duration patience) {
        this.cache = cache;
        this.patience = patience;
    }

    private static ThreadPoolExecutor threads(String name, int threads, int mostWaiting) {
        ThreadPoolExecutor executor = new ThreadPoolExecutor(
                threads, threads, 30, TimeUnit.SECONDS, new LinkedBlockingQueue<>(mostWaiting), task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    ResultCache cache() {
        return cache;
    }

    OptionalLong time() {
        return cache.time();
    }

    /** The copy, empty if there is none; null if the cache did not answer at once. */
    @Nullable
    Optional<ClaimResult.Done> get(RecordId id) {
        return isAnswering() ? within(() -> cache.get(id)) : null;
    }

    /** Keeps new copies of a record away, if the cache answers at once. */
    void bar(RecordId id) {
        if (isAnswering()) {
            within(() -> {
                cache.bar(id);
                return true;
            });
        }
    }

    /** Does something in the background that nobody depends on. */
    void later(Runnable work) {
        if (!isAnswering()) {
            return;
        }
        try {
            writer.execute(() -> {
                try {
                    work.run();
                } catch (RuntimeException e) {
                    log.debug(
                            "A result was not copied into the cache {}; a duplicate asks the database",
                            cache.name(),
                            e);
                }
            });
        } catch (RejectedExecutionException e) {
            log.debug("More results are waiting for the cache {} than it takes; one is not copied", cache.name());
        }
    }

    private boolean isAnswering() {
        if (breaker.isClosed()) {
            return true;
        }
        if (breaker.mayProbe()) {
            try {
                readers.execute(this::probe);
            } catch (RejectedExecutionException e) {
                breaker.failed();
            }
        }
        return false;
    }

    private void probe() {
        try {
            cache.get(NOBODYS);
        } catch (RuntimeException | Error e) {
            breaker.failed();
            log.debug("The cache {} does not answer yet", cache.name(), e);
            return;
        }
        breaker.succeeded();
        log.info("The cache {} answers again", cache.name());
    }

    private <R> @Nullable R within(Callable<R> question) {
        Future<R> answer;
        try {
            answer = readers.submit(question);
        } catch (RejectedExecutionException e) {
            return null;
        }
        try {
            return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            answer.cancel(true);
            Thread.currentThread().interrupt();
            return null;
        } catch (TimeoutException e) {
            answer.cancel(true);
            failed(e);
            return null;
        } catch (ExecutionException e) {
            failed(e.getCause());
            return null;
        }
    }

    private void failed(@Nullable Throwable failure) {
        if (breaker.failed()) {
            log.warn(
                    "The cache {} does not answer within {} ms; the database does without it until it does: {}",
                    cache.name(),
                    patience.toMillis(),
                    String.valueOf(failure));
        }
    }

    // The writer may be reading in the database, and H2 closes a file whose reader is interrupted.
    @Override
    public void close() {
        readers.shutdownNow();
        writer.getQueue().clear();
        writer.shutdown();
    }
}
