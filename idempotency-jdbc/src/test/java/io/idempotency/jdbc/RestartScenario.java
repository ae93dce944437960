package io.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.OperationInProgressException;
import io.idempotency.StoreUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;

/** The server is killed under load and started again; the application goes on with the same pool. */
final class RestartScenario {

    private static final int THREADS = 4;

    private static final int KEYS = 60;

    private static final Duration PATIENCE = Duration.ofSeconds(50);

    private RestartScenario() {}

    static void run(TestDatabase database, ClaimMode mode, Runnable kill, Runnable start) {
        HikariDataSource pool = database.pool(config -> {
            config.setMaximumPoolSize(8);
            config.setConnectionTimeout(2_000);
        });
        List<String> keys = IntStream.range(0, KEYS)
                .mapToObj(i -> UUID.randomUUID().toString())
                .toList();
        Map<String, String> answers = new ConcurrentHashMap<>();
        CountDownLatch busy = new CountDownLatch(KEYS / 3);
        CountDownLatch restarted = new CountDownLatch(1);
        try (Bench bench = new Bench(pool, mode, TransactionDefinition.ISOLATION_DEFAULT, Duration.ofSeconds(1))) {
            Bench.race(THREADS + 1, index -> {
                if (index == THREADS) {
                    busy.await(30, TimeUnit.SECONDS);
                    kill.run();
                    start.run();
                    restarted.countDown();
                    return true;
                }
                for (String key : keys) {
                    String answer = untilAnswered(bench, key, "thread " + index);
                    assertThat(answers.merge(key, answer, (known, same) -> known))
                            .as("what the first caller was told")
                            .isEqualTo(answer);
                    busy.countDown();
                    if (busy.getCount() == 0) {
                        // Half of the calls come while the server dies, the other half after.
                        Pause.of(Duration.ofMillis(10));
                    }
                }
                restarted.await(60, TimeUnit.SECONDS);
                return true;
            });

            assertThat(answers).hasSize(KEYS);
            assertThat(keys).allSatisfy(key -> {
                assertThat(database.businessRows(key)).isEqualTo(1);
                assertThat(bench.pay(key, "later")).isEqualTo(answers.get(key));
            });
        }
    }

    private static String untilAnswered(Bench bench, String key, String text) {
        long begin = System.nanoTime();
        while (true) {
            try {
                return bench.pay(key, text);
            } catch (StoreUnavailableException
                    | OperationInProgressException
                    | DataAccessException
                    | TransactionException e) {
                if (System.nanoTime() - begin > PATIENCE.toNanos()) {
                    throw e;
                }
                Pause.of(Duration.ofMillis(20));
            }
        }
    }
}
