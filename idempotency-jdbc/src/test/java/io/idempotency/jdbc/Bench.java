package io.idempotency.jdbc;

import io.idempotency.Guarantee;
import io.idempotency.OperationInProgressException;
import io.idempotency.engine.Call;
import io.idempotency.engine.Completion;
import io.idempotency.engine.Finish;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.OperationSettings;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.StoredResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;

/** An engine with an EXACTLY_ONCE operation whose effect is a row in the business table. */
final class Bench implements AutoCloseable {

    private final DataSource dataSource;
    private final IdempotencyEngine engine;
    private final OperationSettings settings;
    private final JdbcTemplate jdbc;

    Bench(DataSource dataSource, ClaimMode mode) {
        this(dataSource, mode, TransactionDefinition.ISOLATION_DEFAULT, Duration.ofSeconds(2));
    }

    Bench(DataSource dataSource, ClaimMode mode, int isolation, Duration queryTimeout) {
        this.dataSource = dataSource;
        JdbcIdempotencyStore store = JdbcIdempotencyStore.builder(dataSource)
                .claimMode(mode)
                .queryTimeout(queryTimeout)
                .build();
        this.engine = IdempotencyEngine.on(store).build();
        DefaultTransactionAttribute attribute = new DefaultTransactionAttribute();
        attribute.setIsolationLevel(isolation);
        this.settings = OperationSettings.of(Requests.OPERATION, Guarantee.EXACTLY_ONCE)
                .transactions(new SpringBusinessTransactions(new JdbcTransactionManager(dataSource), attribute, store))
                .build();
        this.jdbc = new JdbcTemplate(dataSource);
    }

    JdbcTemplate jdbc() {
        return jdbc;
    }

    DataSource dataSource() {
        return dataSource;
    }

    /** The text of the result: the caller's own, or that of the call whose duplicate this is. */
    String pay(String key, String text) {
        return pay(key, text, () -> {});
    }

    String pay(String key, String text, Runnable further) {
        try {
            Completion completion = engine.execute(new Call(settings, "", key, Fingerprint.NONE), attempt -> {
                jdbc.update("insert into business (text) values (?)", key);
                further.run();
                return new Finish.Store(Requests.result(text), false);
            });
            StoredResult replayed = completion instanceof Completion.Replayed replay ? replay.result() : null;
            return replayed == null ? text : new String(replayed.payload(), java.nio.charset.StandardCharsets.UTF_8);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** The same, again and again until it is not refused because another call runs. */
    Patient payPatiently(String key, String text) {
        long longest = 0;
        for (int i = 0; i < 100_000; i++) {
            long start = System.nanoTime();
            String answer = null;
            try {
                answer = pay(key, text);
            } catch (OperationInProgressException e) {
                Thread.yield();
            }
            longest = Math.max(longest, System.nanoTime() - start);
            if (answer != null) {
                return new Patient(answer, Duration.ofNanos(longest));
            }
        }
        throw new AssertionError("Refused for ever");
    }

    /**
     * What a patient caller got.
     *
     * @param longest how long the slowest of his calls took
     */
    record Patient(String answer, Duration longest) {}

    /** Runs something on many threads that start together. */
    static <R extends @Nullable Object> List<R> race(int threads, Racer<R> racer) {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            CyclicBarrier start = new CyclicBarrier(threads);
            List<Future<R>> futures = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int index = i;
                futures.add(pool.submit(() -> {
                    start.await(30, TimeUnit.SECONDS);
                    return racer.run(index);
                }));
            }
            List<R> results = new ArrayList<>();
            for (Future<R> future : futures) {
                results.add(future.get(300, TimeUnit.SECONDS));
            }
            return results;
        } catch (ExecutionException e) {
            throw new AssertionError("A thread failed: " + e.getCause(), e.getCause());
        } catch (Exception e) {
            throw new AssertionError(e);
        } finally {
            pool.shutdownNow();
        }
    }

    static void onAnotherThread(Runnable work) {
        race(1, index -> {
            work.run();
            return true;
        });
    }

    /** One of many threads. */
    interface Racer<R extends @Nullable Object> {

        R run(int index) throws Exception;
    }

    @Override
    public void close() {
        engine.close();
    }
}
