package io.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.jdbc.Bench.Patient;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.RecordId;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.TransactionDefinition;

class ContentionTests {

    private static final int THREADS = 16;

    @ParameterizedTest
    @CsvSource({
        "H2, JOINED",
        "H2, SEPARATE",
        "PostgreSQL, JOINED",
        "PostgreSQL, SEPARATE",
    })
    void manyCallsOfOneKeyHaveOneEffectAndNobodyWaitsOrFails(String product, ClaimMode mode) {
        try (TestDatabase database = TestDatabase.of(product);
                Bench bench = new Bench(database.pool(), mode)) {
            for (int round = 0; round < 10; round++) {
                String key = UUID.randomUUID().toString();

                List<Patient> callers = Bench.race(THREADS, index -> bench.payPatiently(key, "answer of " + index));

                assertThat(database.businessRows(key)).isEqualTo(1);
                assertThat(callers)
                        .extracting(Patient::answer)
                        .containsOnly(callers.get(0).answer());
                assertThat(callers)
                        .allSatisfy(caller -> assertThat(caller.longest()).isLessThan(Duration.ofSeconds(5)));
            }
        }
    }

    // The database may end any SERIALIZABLE or REPEATABLE READ transaction; then another call has the effect.
    @ParameterizedTest
    @CsvSource({
        "JOINED, 2",
        "JOINED, 4",
        "JOINED, 8",
        "SEPARATE, 2",
        "SEPARATE, 4",
        "SEPARATE, 8",
    })
    void manyCallsOfOneKeyHaveOneEffectAtEveryIsolation(ClaimMode mode, int isolation) {
        try (TestDatabase database = TestDatabase.postgreSql();
                Bench bench = new Bench(database.pool(), mode, isolation, Duration.ofSeconds(2))) {
            for (int round = 0; round < 5; round++) {
                String key = UUID.randomUUID().toString();

                List<String> answers = Bench.race(8, index -> untilAnswered(bench, key, "answer of " + index));

                assertThat(database.businessRows(key)).isEqualTo(1);
                assertThat(answers).containsOnly(answers.get(0));
            }
        }
    }

    // What the database refuses of the store's own statements is sent again.
    @ParameterizedTest
    @ValueSource(strings = {"TRANSACTION_REPEATABLE_READ", "TRANSACTION_SERIALIZABLE"})
    void leasedClaimsWorkOnAPoolOfAnyIsolation(String isolation) {
        try (TestDatabase database = TestDatabase.postgreSql()) {
            JdbcIdempotencyStore store = JdbcIdempotencyStore.builder(database.pool(config -> {
                        config.setTransactionIsolation(isolation);
                        config.setMaximumPoolSize(THREADS);
                    }))
                    .build();
            for (int round = 0; round < 10; round++) {
                RecordId id = Requests.freshId();

                List<ClaimResult> answers = Bench.race(THREADS, index -> {
                    ClaimResult answer = store.tryClaim(Requests.leased(id));
                    if (answer instanceof ClaimResult.Claimed claimed) {
                        store.renew(claimed.lease());
                        store.complete(claimed.lease(), Requests.result("first"), Requests.LONG);
                    }
                    return answer;
                });

                assertThat(answers)
                        .filteredOn(ClaimResult.Claimed.class::isInstance)
                        .hasSize(1);
            }
        }
    }

    private static String untilAnswered(Bench bench, String key, String text) {
        while (true) {
            try {
                return bench.payPatiently(key, text).answer();
            } catch (org.springframework.dao.ConcurrencyFailureException
                    | io.idempotency.spi.TransactionConflictException e) {
                Thread.yield();
            }
        }
    }

    // A read of an absent key under SERIALIZABLE locks its neighbourhood, and on a small table that is all of it. A
    // joined claim reads nothing; a separate one has to read the row that it locks, so that there strangers may
    // conflict.
    @Test
    void strangersDoNotConflictUnderSerializable() {
        try (TestDatabase database = TestDatabase.postgreSql();
                Bench bench = new Bench(
                        database.pool(),
                        ClaimMode.JOINED,
                        TransactionDefinition.ISOLATION_SERIALIZABLE,
                        Duration.ofSeconds(2))) {
            for (int round = 0; round < 5; round++) {
                int threads = 8;
                String prefix = UUID.randomUUID().toString();
                java.util.concurrent.CyclicBarrier allHaveClaimed = new java.util.concurrent.CyclicBarrier(threads);

                Bench.race(
                        threads,
                        index -> bench.pay(prefix + index, "done", () -> {
                            try {
                                allHaveClaimed.await(20, java.util.concurrent.TimeUnit.SECONDS);
                            } catch (Exception e) {
                                throw new IllegalStateException(e);
                            }
                        }));

                assertThat(database.number("select count(*) from business where text like '" + prefix + "%'"))
                        .isEqualTo(threads);
            }
        }
    }
}
