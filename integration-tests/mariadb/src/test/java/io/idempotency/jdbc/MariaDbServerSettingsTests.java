package io.idempotency.jdbc;

import static io.idempotency.jdbc.Requests.LONG;
import static io.idempotency.jdbc.Requests.exactlyOnce;
import static io.idempotency.jdbc.Requests.freshId;
import static io.idempotency.jdbc.Requests.leaseOf;
import static io.idempotency.jdbc.Requests.leased;
import static io.idempotency.jdbc.Requests.request;
import static io.idempotency.jdbc.Requests.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.Guarantee;
import io.idempotency.OperationInProgressException;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.TransactionDefinition;

/** Keys, clocks, tables, rights and limits on a real MariaDB. */
class MariaDbServerSettingsTests {

    @AutoClose
    private static final TestDatabase database = TestDatabase.of(MariaDbDriver.NAME);

    // Case 52, also in a table that somebody has made with the collation that ignores case and accents.
    @ParameterizedTest
    @ValueSource(strings = {"idempotency_record", "made_by_hand"})
    void keysThatDifferInCaseAccentOrSpaceAreDifferentKeys(String table) {
        database.execute("create table if not exists made_by_hand like idempotency_record");
        database.execute("alter table made_by_hand convert to character set utf8mb4 collate utf8mb4_general_ci");
        JdbcIdempotencyStore store =
                JdbcIdempotencyStore.builder(database.pool()).tableName(table).build();
        store.schema().verify();
        List<String> keys = List.of(
                "order-a",
                "ORDER-A",
                "\u00f6rd\u00e9r-a",
                "order-\u00e1",
                "order-a\u0301",
                "order-a ",
                "order-a\t",
                "order-a\ud83d\ude00");

        for (String key : keys) {
            RecordId id = RecordId.of(table, "", key);
            assertThat(store.recordDone(leased(id), result(key))).isInstanceOf(ClaimResult.Claimed.class);
        }

        for (String key : keys) {
            assertThat(store.tryClaim(leased(RecordId.of(table, "", key))))
                    .isInstanceOfSatisfying(
                            ClaimResult.Done.class,
                            done -> assertThat(done.result()).isEqualTo(result(key)));
        }
    }

    // Case 56
    @ParameterizedTest
    @ValueSource(ints = {65_535, 65_536, 70_000, 1_500_000})
    void largeResultSurvives(int size) {
        JdbcIdempotencyStore store = store(database.pool());
        RecordId id = freshId();
        store.recordDone(leased(id), result("x".repeat(size)));

        assertThat(store.find(id).orElseThrow().result()).isEqualTo(result("x".repeat(size)));
    }

    // Case 49: the clock of the server runs ahead in one pool, and the store goes by it.
    @Test
    void onlyTheClockOfTheDatabaseDecides() {
        DataSource ahead =
                database.pool(config -> config.setConnectionInitSql("set timestamp = unix_timestamp() + 90"));
        RecordId id = freshId();
        store(database.pool()).tryClaim(request(id, Guarantee.AT_LEAST_ONCE, Duration.ofSeconds(30), LONG));

        assertThat(store(database.pool()).tryClaim(leased(id))).isInstanceOf(ClaimResult.InProgress.class);
        assertThat(store(ahead).tryClaim(leased(id))).isInstanceOf(ClaimResult.Abandoned.class);
    }

    // In a time zone with summer time an hour comes twice; between zones one is always over already.
    @Test
    void timeZoneOfASessionDoesNotMatter() {
        DataSource east = database.pool(config -> config.setConnectionInitSql("set time_zone = '+13:00'"));
        DataSource west = database.pool(config -> config.setConnectionInitSql("set time_zone = '-11:00'"));
        RecordId id = freshId();
        Lease lease = leaseOf(store(west).tryClaim(request(id, Guarantee.AT_LEAST_ONCE, Duration.ofSeconds(30), LONG)));

        assertThat(store(east).tryClaim(leased(id)))
                .isInstanceOfSatisfying(
                        ClaimResult.InProgress.class,
                        answer -> assertThat(answer.leaseLeft()).isLessThanOrEqualTo(Duration.ofSeconds(30)));
        store(east).complete(lease, result("first"), LONG);
        assertThat(store(west).tryClaim(leased(id))).isInstanceOf(ClaimResult.Done.class);
    }

    // Case 47: the server speaks German.
    @Test
    void duplicateIsRecognisedInEveryLanguage() {
        DataSource german = database.pool(config -> config.setConnectionInitSql("set lc_messages = 'de_DE'"));
        try (Bench bench = new Bench(german, ClaimMode.JOINED)) {
            String key = UUID.randomUUID().toString();
            List<String> answers = Bench.race(
                    8, index -> bench.payPatiently(key, "answer of " + index).answer());

            assertThat(answers).containsOnly(answers.get(0));
            assertThat(database.businessRows(key)).isEqualTo(1);
        }
    }

    // Case 9, with a rollback in the middle, after which InnoDB would kill all waiters but one.
    @ParameterizedTest
    @EnumSource(names = {"JOINED", "SEPARATE"})
    void manyCallsOfOneKeyHaveOneEffectAndNobodyWaitsOrFails(ClaimMode mode) {
        try (Bench bench = new Bench(database.pool(), mode)) {
            for (int round = 0; round < 10; round++) {
                String key = UUID.randomUUID().toString();
                AtomicInteger runs = new AtomicInteger();

                List<String> answers = Bench.race(16, index -> untilPaid(bench, key, "answer of " + index, runs));

                assertThat(runs).hasValue(2);
                assertThat(database.businessRows(key)).isEqualTo(1);
                assertThat(answers).containsOnly(answers.get(0));
            }
        }
    }

    private static String untilPaid(Bench bench, String key, String text, AtomicInteger runs) {
        while (true) {
            long start = System.nanoTime();
            try {
                return bench.pay(key, text, () -> {
                    if (runs.incrementAndGet() == 1) {
                        throw new IllegalStateException("the first one");
                    }
                });
            } catch (OperationInProgressException busy) {
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
            } catch (IllegalStateException rolledBack) {
                assertThat(rolledBack).hasMessage("the first one");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"JOINED", "SEPARATE"})
    void manyCallsOfOneKeyHaveOneEffectAtEveryIsolation(ClaimMode mode) {
        for (int isolation : new int[] {1, 2, 4, 8}) {
            try (Bench bench = new Bench(database.pool(), mode, isolation, Duration.ofSeconds(2))) {
                for (int round = 0; round < 3; round++) {
                    String key = UUID.randomUUID().toString();

                    List<String> answers = Bench.race(8, index -> {
                        while (true) {
                            try {
                                return bench.payPatiently(key, "answer of " + index)
                                        .answer();
                            } catch (org.springframework.dao.ConcurrencyFailureException
                                    | io.idempotency.spi.TransactionConflictException e) {
                                Thread.yield();
                            }
                        }
                    });

                    assertThat(database.businessRows(key)).isEqualTo(1);
                    assertThat(answers).containsOnly(answers.get(0));
                }
            }
        }
    }

    // What the library opens is READ COMMITTED unless something else is asked for.
    @Test
    void transactionsOfTheLibraryAreReadCommittedUnlessTheMethodSaysOtherwise() {
        for (int wanted : new int[] {TransactionDefinition.ISOLATION_DEFAULT, 2, 4, 8}) {
            try (Bench bench = new Bench(database.pool(), ClaimMode.AUTO, wanted, Duration.ofSeconds(2))) {
                bench.pay(
                        UUID.randomUUID().toString(),
                        "done",
                        () -> assertThat(bench.jdbc().queryForObject("select @@transaction_isolation", String.class))
                                .isEqualTo(
                                        switch (wanted) {
                                            case 4 -> "REPEATABLE-READ";
                                            case 8 -> "SERIALIZABLE";
                                            default -> "READ-COMMITTED";
                                        }));
            }
        }
    }

    // A replay locks nothing: not even a transaction that has the record locked is in its way.
    @ParameterizedTest
    @EnumSource(names = {"JOINED", "SEPARATE"})
    void replayIsOnePlainReadBesideALock(ClaimMode mode) throws SQLException {
        Traffic traffic = new Traffic(database.pool());
        JdbcIdempotencyStore store =
                JdbcIdempotencyStore.builder(traffic).claimMode(mode).build();
        RecordId id = freshId();
        store.recordDone(leased(id), result("first"));
        try (Connection locker = database.connect();
                Statement statement = locker.createStatement()) {
            locker.setAutoCommit(false);
            statement.execute("select * from idempotency_record where id = " + database.literal(id) + " for update");
            traffic.take();

            assertThat(store.tryClaim(leased(id))).isInstanceOf(ClaimResult.Done.class);
            assertThat(traffic.take()).containsExactly("select");
            if (mode == ClaimMode.SEPARATE) {
                assertThat(store.beforeTransaction(exactlyOnce(id), false)).isPresent();
                assertThat(traffic.take()).containsExactly("select");
            }
            locker.rollback();
        }
    }

    @Test
    void leasedFirstExecutionTakesThreeStatements() {
        Traffic traffic = new Traffic(database.pool());
        JdbcIdempotencyStore store = store(traffic);
        store.find(freshId());
        traffic.take();

        store.complete(leaseOf(store.tryClaim(leased(freshId()))), result("first"), LONG);

        assertThat(traffic.take()).containsExactly("select", "set", "set");
    }

    @Test
    void tableOfAnotherEngineIsRefused() {
        database.execute("create table loose like idempotency_record");
        database.execute("alter table loose engine = MyISAM");

        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(() -> JdbcIdempotencyStore.builder(database.pool())
                        .tableName("loose")
                        .build()
                        .schema()
                        .verify())
                .withMessageContaining("MyISAM");
    }

    @ParameterizedTest
    @ValueSource(strings = {"select", "insert", "update", "delete"})
    void missingRightIsTold(String right) {
        String name = "limited_" + right;
        database.execute("create or replace user " + name + "@'%' identified by 'limited'");
        String rights = List.of("select", "insert", "update", "delete").stream()
                .filter(other -> !other.equals(right))
                .collect(java.util.stream.Collectors.joining(", "));
        database.execute("grant " + rights + " on idempotency_record to " + name + "@'%'");
        HikariDataSource limited = database.pool(config -> {
            config.setJdbcUrl(database.url().replaceAll("[?&](user|password)=[^&]*", ""));
            config.setUsername(name);
            config.setPassword("limited");
        });
        JdbcSchema schema = store(limited).schema();

        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(schema::verify)
                .withMessageContaining("user " + name)
                .withMessageContaining("lacks a right");

        database.execute("grant " + right + " on idempotency_record to " + name + "@'%'");
        schema.verify();
    }

    @Test
    void missingTableAndSchemaAreTold() {
        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(() -> JdbcIdempotencyStore.builder(database.pool())
                        .tableName("absent")
                        .build()
                        .schema()
                        .verify())
                .withMessageContaining("is missing")
                .withMessageContaining("schema idempotency_test_")
                .withMessageContaining("io/idempotency/jdbc/schema-mariadb.sql")
                .withMessageContaining("migration/mariadb/V1__idempotency_record.sql");
        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(() -> JdbcIdempotencyStore.builder(database.pool())
                        .tableName("nowhere.idem")
                        .build()
                        .schema()
                        .createIfMissing())
                .withMessageContaining("schema that does not exist");
        assertThatExceptionOfType(UnusableTableException.class)
                .isThrownBy(() -> JdbcIdempotencyStore.builder(database.pool())
                        .tableName("ORDER")
                        .build()
                        .schema()
                        .createIfMissing())
                .withMessageContaining("means something else in SQL");
    }

    // Case 64
    @ParameterizedTest
    @ValueSource(
            strings = {"Mixed_Case", "with$dollar", "ttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt"})
    void tableMayHaveAnotherName(String name) {
        JdbcIdempotencyStore store =
                JdbcIdempotencyStore.builder(database.pool()).tableName(name).build();
        Bench.race(4, index -> {
            store.schema().createIfMissing();
            return true;
        });
        store.schema().verify();

        assertThat(store.tryClaim(leased(freshId()))).isInstanceOf(ClaimResult.Claimed.class);
        assertThat(database.number("select count(*) from " + name)).isEqualTo(1);
    }

    @Test
    void weakDurabilityIsTold() {
        // The server of the tests flushes once a second.
        assertThat(store(database.pool()).schema().durabilityWarnings())
                .singleElement()
                .asString()
                .contains("innodb_flush_log_at_trx_commit is 2");
        database.execute("set global innodb_flush_log_at_trx_commit = 1");
        try {
            assertThat(store(database.pool()).schema().durabilityWarnings()).isEmpty();
        } finally {
            database.execute("set global innodb_flush_log_at_trx_commit = 2");
        }
    }

    // Case 63
    @Test
    void lockedTableFailsClosedInTimeAndWorksAgainAfterwards() throws SQLException {
        new HungScenario(database, Duration.ofSeconds(8))
                .lockedTable(ClaimMode.AUTO, "lock tables idempotency_record write", "unlock tables");
    }

    @ParameterizedTest
    @ValueSource(strings = {MariaDbDriver.NAME, MySqlDriver.NAME})
    void silentNetworkFailsClosedInTime(String product) {
        try (TestDatabase other = TestDatabase.of(product)) {
            new HungScenario(other, Duration.ofSeconds(8)).silentNetwork("");
        }
    }

    // The session of a claim in a transaction dies.
    @ParameterizedTest
    @EnumSource(names = {"JOINED", "SEPARATE"})
    void keyIsFreeAsSoonAsTheDatabaseHasDroppedTheSession(ClaimMode mode) {
        try (Bench bench = new Bench(database.pool(), mode)) {
            String key = UUID.randomUUID().toString();

            assertThatExceptionOfType(RuntimeException.class)
                    .isThrownBy(() -> bench.pay(key, "dead", () -> {
                        long session = java.util.Objects.requireNonNull(
                                bench.jdbc().queryForObject("select connection_id()", Long.class));
                        database.execute("kill " + session);
                        bench.jdbc().update("insert into business (text) values (?)", key);
                    }));

            assertThat(bench.payPatiently(key, "next").answer()).isEqualTo("next");
            assertThat(database.businessRows(key)).isEqualTo(1);
        }
    }

    private static JdbcIdempotencyStore store(DataSource dataSource) {
        return JdbcIdempotencyStore.builder(dataSource).build();
    }
}
