package io.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.idempotency.Guarantee;
import io.idempotency.KeyReusedException;
import io.idempotency.OperationInProgressException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.engine.Call;
import io.idempotency.engine.Completion;
import io.idempotency.engine.Finish;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.OperationSettings;
import io.idempotency.jdbc.JdbcIdempotencyStore;
import io.idempotency.jdbc.SpringBusinessTransactions;
import io.idempotency.redis.TieredBench.Cuttable;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyListener;
import io.idempotency.support.TieredIdempotencyStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.support.TransactionTemplate;

/** EXACTLY_ONCE on a database with a Redis before it that is lost, evicts, is flushed or hangs: slower, never wrong. */
class TieredFaultsTests {

    private static final String OPERATION = "tiered-operation";

    private static TieredBench bench;

    private final Map<String, AtomicInteger> told = new ConcurrentHashMap<>();
    private final Cuttable dataSource = new Cuttable(bench.pool());
    private TieredIdempotencyStore store;
    private IdempotencyEngine engine;
    private OperationSettings settings;

    @BeforeAll
    static void open() {
        bench = TieredBench.onH2();
    }

    @AfterAll
    static void close() throws Exception {
        bench.close();
    }

    @BeforeEach
    void start() {
        store = bench.newStore(dataSource, bench.cache(), new IdempotencyListener() {
            @Override
            public void onTierAsked(String result) {
                told.computeIfAbsent(result, name -> new AtomicInteger()).incrementAndGet();
            }
        });
        engine = IdempotencyEngine.on(store).build();
        settings = OperationSettings.of(OPERATION, Guarantee.EXACTLY_ONCE)
                .transactions(new SpringBusinessTransactions(
                        new JdbcTransactionManager(dataSource),
                        new DefaultTransactionAttribute(),
                        (JdbcIdempotencyStore) store.database()))
                .build();
        TieredBench.warmUp(store, OPERATION);
    }

    @AfterEach
    void stop() {
        engine.close();
        store.close();
    }

    private int told(String result) {
        AtomicInteger times = told.get(result);
        return times == null ? 0 : times.get();
    }

    private String pay(String key, String text) throws Throwable {
        return pay(key, text, Fingerprint.NONE);
    }

    private String pay(String key, String text, Fingerprint fingerprint) throws Throwable {
        Completion completion = engine.execute(new Call(settings, "", key, fingerprint), attempt -> {
            new JdbcTemplate(dataSource).update("insert into business (text) values (?)", key);
            return new Finish.Store(Claims.result(text), false);
        });
        return completion instanceof Completion.Replayed replayed
                ? new String(replayed.result().payload(), StandardCharsets.UTF_8)
                : text;
    }

    private long rows(String key) {
        return bench.jdbc().queryForObject("select count(*) from business where text = ?", Long.class, key);
    }

    private void awaitHit(String key, String text) {
        await().atMost(60, TimeUnit.SECONDS).until(() -> {
            int before = told("hit");
            assertThat(payUnchecked(key, "again")).isEqualTo(text);
            return told("hit") > before;
        });
    }

    private String payUnchecked(String key, String text) {
        try {
            return pay(key, text);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void duplicateIsAnsweredWhileTheDatabaseIsAwayAndNothingElseIs() throws Throwable {
        String key = UUID.randomUUID().toString();
        pay(key, "first");
        awaitHit(key, "first");
        dataSource.cut = true;

        assertThat(pay(key, "again")).isEqualTo("first");
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> pay(UUID.randomUUID().toString(), "first"));
        dataSource.cut = false;
        assertThat(rows(key)).isEqualTo(1);
    }

    @Test
    void copyOfAnotherPayloadIsRefusedAsTheDatabaseRefusesIt() throws Throwable {
        String key = UUID.randomUUID().toString();
        Fingerprint one = Fingerprint.sha256("test/1", new byte[] {1});
        Fingerprint two = Fingerprint.sha256("test/1", new byte[] {2});
        pay(key, "first", one);
        await().atMost(60, TimeUnit.SECONDS).until(() -> {
            int before = told("hit");
            payUnchecked(key, "again");
            return told("hit") > before;
        });
        int hits = told("hit");

        assertThatExceptionOfType(KeyReusedException.class).isThrownBy(() -> pay(key, "other", two));

        assertThat(told("hit")).isGreaterThan(hits);
    }

    @Test
    void resultThatASavepointUndoesIsNotCopiedThoughTheRestIsCommitted() throws Throwable {
        String key = UUID.randomUUID().toString();
        JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
        TransactionTemplate nested = new TransactionTemplate(manager);
        nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);

        new TransactionTemplate(manager)
                .executeWithoutResult(outer -> nested.executeWithoutResult(inner -> {
                    assertThat(payUnchecked(key, "undone")).isEqualTo("undone");
                    inner.setRollbackOnly();
                }));
        String later = UUID.randomUUID().toString();
        pay(later, "first");
        awaitHit(later, "first");

        assertThat(rows(key)).isZero();
        assertThat(pay(key, "second")).isEqualTo("second");
        awaitHit(key, "second");
        assertThat(rows(key)).isEqualTo(1);
    }

    @Test
    void purgeAndItsLagAreThoseOfTheDatabase() {
        store.recordDone(Claims.request(Claims.freshId(), Claims.LONG, Duration.ofMillis(1)), Claims.result("expired"));
        await().atMost(60, TimeUnit.SECONDS).until(() -> !store.purgeLag().isZero());

        assertThat(store.purgeExpired(10)).isEqualTo(1);

        assertThat(store.purgeLag()).isZero();
    }

    @Test
    void resultOfATransactionOfTheApplicationIsCopiedAfterItsCommit() throws Throwable {
        String key = UUID.randomUUID().toString();

        new TransactionTemplate(new JdbcTransactionManager(dataSource))
                .executeWithoutResult(
                        status -> assertThat(payUnchecked(key, "first")).isEqualTo("first"));

        awaitHit(key, "first");
        assertThat(rows(key)).isEqualTo(1);
    }

    // Each kind of trouble comes to running traffic, and the cache is used again afterwards, by the same store.
    @Test
    void lostFlushedEvictingFrozenRedisIsSlowerAndNeverWrong() throws Throwable {
        for (Trouble trouble : Trouble.values()) {
            Traffic traffic = new Traffic(trouble.name());
            try {
                traffic.start();
                traffic.awaitProgress();
                trouble.begin(bench.redis());
                traffic.awaitProgress();
                trouble.end(bench.redis());
                traffic.awaitProgress();
            } finally {
                traffic.stop();
            }
            traffic.check();
            String key = UUID.randomUUID().toString();
            pay(key, "first");
            awaitHit(key, "first");
        }
    }

    private enum Trouble {
        FLUSHED {
            @Override
            void begin(RedisServer redis) {
                for (int i = 0; i < 20; i++) {
                    redis.does(jedis -> jedis.flushAll());
                    Claims.waitFor(Duration.ofMillis(10));
                }
            }

            @Override
            void end(RedisServer redis) {}
        },
        KILLED {
            @Override
            void begin(RedisServer redis) {
                redis.kill();
            }

            @Override
            void end(RedisServer redis) {
                redis.restart();
            }
        },
        FROZEN {
            @Override
            void begin(RedisServer redis) {
                redis.freeze();
            }

            @Override
            void end(RedisServer redis) {
                redis.thaw();
            }
        },
        EVICTING {
            @Override
            void begin(RedisServer redis) {
                redis.does(jedis -> jedis.configSet("maxmemory-policy", "allkeys-random"));
                redis.does(jedis -> jedis.configSet("maxmemory", "1mb"));
            }

            @Override
            void end(RedisServer redis) {
                redis.does(jedis -> jedis.configSet("maxmemory", "0"));
                redis.does(jedis -> jedis.configSet("maxmemory-policy", "noeviction"));
            }
        },
        FULL {
            @Override
            void begin(RedisServer redis) {
                redis.does(jedis -> jedis.configSet("maxmemory", "1mb"));
            }

            @Override
            void end(RedisServer redis) {
                redis.does(jedis -> jedis.configSet("maxmemory", "0"));
            }
        };

        abstract void begin(RedisServer redis);

        abstract void end(RedisServer redis);
    }

    /** Callers who repeat themselves. */
    private final class Traffic {

        private static final int CALLERS = 4;
        private static final int KEYS_OF_A_ROUND = 5;

        private final ExecutorService threads = Executors.newFixedThreadPool(CALLERS);
        private final List<Future<Boolean>> callers = new ArrayList<>();
        private final AtomicBoolean over = new AtomicBoolean();
        private final AtomicInteger round = new AtomicInteger();
        private final AtomicInteger answered = new AtomicInteger();
        private final Map<String, Queue<String>> answers = new ConcurrentHashMap<>();
        private final String prefix;

        Traffic(String name) {
            prefix = name + "-" + UUID.randomUUID() + "-";
        }

        void start() {
            for (int i = 0; i < CALLERS; i++) {
                Random random = new Random(i);
                callers.add(threads.submit(() -> {
                    while (!over.get()) {
                        call(prefix + round.get() + "-" + random.nextInt(KEYS_OF_A_ROUND), random);
                    }
                    return true;
                }));
            }
        }

        private void call(String key, Random random) {
            try {
                String answer = payUnchecked(key, "answer-" + random.nextInt());
                answers.computeIfAbsent(key, k -> new ConcurrentLinkedQueue<>()).add(answer);
                answered.incrementAndGet();
            } catch (OperationInProgressException e) {
                Thread.yield();
            }
        }

        /** New keys are served, and their duplicates too. */
        void awaitProgress() {
            round.incrementAndGet();
            int before = answered.get();
            int keysBefore = answers.size();
            await().atMost(60, TimeUnit.SECONDS)
                    .until(() -> answered.get() > before + 100 && answers.size() >= keysBefore + KEYS_OF_A_ROUND);
        }

        void stop() throws Exception {
            over.set(true);
            for (Future<Boolean> caller : callers) {
                caller.get(60, TimeUnit.SECONDS);
            }
            threads.shutdownNow();
        }

        void check() {
            assertThat(answers).hasSizeGreaterThan(KEYS_OF_A_ROUND);
            assertThat(answers).allSatisfy((key, given) -> {
                assertThat(rows(key)).as("payments of " + key).isEqualTo(1);
                assertThat(given.stream().distinct()).as("answers to " + key).hasSize(1);
            });
        }
    }

    // Readers copy what they see all the time; what they see after the operator has forgotten a record is never the old
    // one.
    @Test
    void forgottenRecordIsNeverReplayedThoughReadersCopyItMeanwhile() throws Throwable {
        int readers = 3;
        ExecutorService threads = Executors.newFixedThreadPool(readers);
        try {
            for (int i = 0; i < 15; i++) {
                String key = "forgotten-" + UUID.randomUUID();
                pay(key, "old");
                awaitHit(key, "old");
                AtomicBoolean forgotten = new AtomicBoolean();
                AtomicBoolean over = new AtomicBoolean();
                List<Future<Boolean>> reading = new ArrayList<>();
                for (int reader = 0; reader < readers; reader++) {
                    reading.add(threads.submit(() -> {
                        while (!over.get()) {
                            boolean afterwards = forgotten.get();
                            try {
                                String seen = payUnchecked(key, "new");
                                assertThat(afterwards && seen.equals("old")).isFalse();
                            } catch (OperationInProgressException e) {
                                Thread.yield();
                            }
                        }
                        return true;
                    }));
                }
                // A locked record cannot be removed; the operator tries again.
                await().atMost(60, TimeUnit.SECONDS).until(() -> engine.admin().forget(OPERATION, "", key));
                forgotten.set(true);
                String next = null;
                while (next == null) {
                    try {
                        next = payUnchecked(key, "new");
                    } catch (OperationInProgressException e) {
                        Thread.yield();
                    }
                }
                assertThat(next).isEqualTo("new");
                over.set(true);
                for (Future<Boolean> each : reading) {
                    assertThat(each.get(30, TimeUnit.SECONDS)).isTrue();
                }
                assertThat(rows(key)).isEqualTo(2);
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
