package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.util.unit.DataSize;

/** EXACTLY_ONCE over the whole exchange: the business row and the stored answer are there together or not at all. */
class ExactlyOnceHttpTests {

    @AutoClose
    private static final TestServer server = TestServer.start(Database.class);

    private final String key = TestServer.newKey();

    private Answer post(String path) {
        return server.post("/tx/" + path, key, "{}");
    }

    private int rows() {
        return server.bean(ExactlyOnceHandlers.Ledger.class).rows(key);
    }

    private int records() {
        return server.bean(ExactlyOnceHandlers.Ledger.class).records();
    }

    @ParameterizedTest
    @ValueSource(strings = {"pay", "transactional"})
    void commitsTheRowWithItsAnswer(String path) {
        Answer first = post(path);
        Answer second = post(path);

        assertThat(first.status()).isEqualTo(201);
        assertThat(second.replayed()).isTrue();
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(second.header("Location")).isEqualTo(first.header("Location"));
        assertThat(rows()).isEqualTo(1);
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    // Case 60
    @ParameterizedTest
    @ValueSource(strings = {"fail", "status-409", "status-503"})
    void leavesNothingOfACallThatIsNotStored(String path) {
        int before = records();
        Answer first = post(path);

        assertThat(first.status()).isGreaterThanOrEqualTo(400);
        assertThat(first.text()).as("its own answer").doesNotContain("asynchronously");
        assertThat(rows()).isZero();
        assertThat(records()).isEqualTo(before);
        Answer second = post(path);
        assertThat(second.replayed()).isFalse();
        assertThat(server.effects().of(key)).isEqualTo(2);
    }

    /** The exception of the service undoes the transaction, and its 402 is the answer nevertheless, for duplicates too. */
    @ParameterizedTest
    @ValueSource(strings = {"rejected", "caught"})
    void storesARefusalAlthoughItsTransactionWasRolledBack(String path) {
        Answer first = post(path);
        Answer second = post(path);

        assertThat(first.status()).isEqualTo(402);
        assertThat(second.status()).isEqualTo(402);
        assertThat(second.replayed()).isTrue();
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(rows()).isZero();
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    @Test
    void neverSaysYesWhereNothingWasCommitted() {
        int before = records();
        Answer first = post("caught-and-praised");
        Answer second = post("caught-and-praised");

        assertThat(first.status()).isEqualTo(500);
        assertThat(first.json().get("status").asInt()).isEqualTo(500);
        assertThat(first.header("Location")).isNull();
        assertThat(second.status()).isEqualTo(500);
        assertThat(rows()).isZero();
        assertThat(records()).isEqualTo(before);
        assertThat(server.effects().of(key)).isEqualTo(2);
    }

    /** An advice that answers 200 for every exception has said what it wanted to say; a retry runs again. */
    @Test
    void sendsTheAnswerOfAnAdviceUnchangedAndDoesNotStoreIt() {
        Answer first = post("enveloped");
        Answer second = post("enveloped");

        assertThat(first.status()).isEqualTo(200);
        assertThat(first.json().get("code").asInt()).isEqualTo(402);
        assertThat(second.replayed()).isFalse();
        assertThat(rows()).isZero();
        assertThat(server.effects().of(key)).isEqualTo(2);
    }

    @Test
    void storesAFailureThatIsNamedAsAResultAfterItsRollback() {
        Answer first = post("stored");
        Answer second = post("stored");

        assertThat(first.status()).isEqualTo(502);
        assertThat(second.status()).isEqualTo(502);
        assertThat(second.replayed()).isTrue();
        assertThat(rows()).isZero();
    }

    /** The rollback rules want a commit for a checked exception, so it is a result. */
    @Test
    void storesAFailureForWhichTheRulesWantACommit() {
        Answer first = post("checked");
        Answer second = post("checked");

        assertThat(first.status()).isEqualTo(422);
        assertThat(second.status()).isEqualTo(422);
        assertThat(second.replayed()).isTrue();
        assertThat(rows()).isEqualTo(1);
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    @Test
    void storesAFailureForWhichTheRulesWantACommitAlsoIfNobodyHandlesIt() {
        Answer first = post("checked-unhandled");
        Answer second = post("checked-unhandled");

        assertThat(first.status()).isEqualTo(500);
        assertThat(second.status()).isEqualTo(500);
        assertThat(second.replayed()).isTrue();
        assertThat(second.json().get("error").asText()).isEqualTo("Internal Server Error");
        assertThat(rows()).isEqualTo(1);
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    @Test
    void commitsARefusalThatTheHandlerReturned() {
        Answer first = post("status-402");
        Answer second = post("status-402");

        assertThat(first.status()).isEqualTo(402);
        assertThat(second.replayed()).isTrue();
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void keepsNothingOfWhatNeverReachedItsHandler() {
        int before = records();
        Answer answer = server.post("/tx/bound", key, "{\"value\":");

        assertThat(answer.status()).isEqualTo(400);
        assertThat(records()).isEqualTo(before);
    }

    /** What the commit itself refuses. */
    @Test
    void leavesNothingIfTheCommitFails() {
        int before = records();
        Answer first = post("commit-fails");
        Answer second = post("commit-fails");

        assertThat(first.status()).isEqualTo(409);
        assertThat(first.json().get("detail").asText()).isEqualTo("integrity");
        assertThat(second.status()).isEqualTo(409);
        assertThat(second.replayed()).isFalse();
        assertThat(rows()).isZero();
        assertThat(records()).isEqualTo(before);
    }

    /** Nor is a refusal an answer that was to be committed. */
    @Test
    void sendsNoRefusalWhoseCommitFails() {
        Answer first = post("commit-of-refusal-fails");

        assertThat(first.status()).isEqualTo(409);
        assertThat(first.json().get("detail").asText()).isEqualTo("integrity");
        assertThat(post("commit-of-refusal-fails").replayed()).isFalse();
        assertThat(rows()).isZero();
    }

    @Test
    void runsOneOfTwentyEqualRequests() {
        List<Answer> answers = server.race(20, "/tx/pay", key);

        assertThat(answers.stream().filter(answer -> answer.status() == 201)).hasSize(1);
        assertThat(answers.stream().filter(answer -> "in-progress".equals(answer.problem())))
                .hasSize(19);
        assertThat(answers.stream().filter(answer -> answer.status() == 409))
                .allMatch(answer -> Integer.parseInt(answer.header("Retry-After")) >= 1);
        assertThat(rows()).isEqualTo(1);
    }

    /** Not even a flush sends anything before the commit. */
    @Test
    void sendsNothingBeforeTheCommit() throws Exception {
        try (TestServer.Raw raw = server.raw()) {
            try (Effects.Stop stop = server.effects().stop(key)) {
                raw.write(TestServer.Raw.request(
                        "/tx/flushing", "{}", "Content-Type: application/json", "Idempotency-Key: " + key));
                stop.awaitArrival();
                await().during(java.time.Duration.ofMillis(300)).until(() -> raw.available() == 0);
                assertThat(rows()).isZero();
            }
            Answer answer = raw.read();

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.body()).hasSize(100_000);
            assertThat(rows()).isEqualTo(1);
        }
    }

    /** A client that goes away changes nothing: what was done is recorded, and its retry gets the answer. */
    @Test
    void recordsTheAnswerOfAClientThatHasGoneAway() throws Exception {
        try (Effects.Stop stop = server.effects().stop(key);
                TestServer.Raw raw = server.raw()) {
            raw.write(TestServer.Raw.request(
                    "/tx/flushing", "{}", "Content-Type: application/json", "Idempotency-Key: " + key));
            stop.awaitArrival();
            raw.abort();
        }
        await().untilAsserted(() -> assertThat(rows()).isEqualTo(1));
        Answer retry = post("flushing");

        assertThat(retry.replayed()).isTrue();
        assertThat(retry.body()).hasSize(100_000);
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** A client that breaks off while it still sends has made no request. */
    @Test
    void doesNotRunWhatWasNotSentToItsEnd() throws Exception {
        int before = records();
        try (TestServer.Raw raw = server.raw()) {
            raw.write(("POST /tx/pay HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nIdempotency-Key: "
                            + key + "\r\nContent-Length: 1000\r\n\r\n{")
                    .getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            raw.abort();
        }
        Answer retry = post("pay");

        assertThat(retry.status()).isEqualTo(201);
        assertThat(retry.replayed()).isFalse();
        assertThat(rows()).isEqualTo(1);
        assertThat(records()).isEqualTo(before + 1);
    }

    /** Case 109, in a transaction. */
    @Test
    void deliversALargeAnswerAfterTheCommitAndStoresTheFact() {
        Answer first = post("large/1048576");
        Answer second = post("large/1048576");

        assertThat(first.status()).isEqualTo(200);
        assertThat(first.body()).hasSize(1048576);
        assertThat(second.problem()).isEqualTo("result-not-replayable");
        assertThat(second.json().get("originalStatus").asInt()).isEqualTo(200);
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void undoesWhatCannotBeHeldBack() {
        int before = records();
        Answer first = post("large/3145728");

        assertThat(first.status()).isEqualTo(500);
        assertThat(rows()).isZero();
        assertThat(records()).isEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"callable", "start-async", "start-async-swallowed", "callable-advised"})
    void undoesWhatWouldEndOnAnotherThread(String path) {
        int before = records();
        Answer answer = post(path);

        assertThat(answer.status()).isEqualTo(500);
        assertThat(answer.json().get("detail").asText())
                .contains("EXACTLY_ONCE ends with the thread of the request", "AT_LEAST_ONCE");
        assertThat(rows()).isZero();
        assertThat(records()).isEqualTo(before);
    }

    /** Who asks before is told. */
    @Test
    void tellsWhoAsksThatAsynchronousAnswersAreNotSupported() {
        assertThat(post("asks-for-async").text()).isEqualTo("not supported");
    }

    @Test
    void refusesACallWhenTheDatabaseIsSilent() {
        AtomicBoolean silent = server.bean(Switch.class).silent;
        silent.set(true);
        try {
            Answer answer = post("pay");

            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.problem()).isEqualTo("store-unavailable");
            assertThat(answer.header("Retry-After")).isEqualTo("1");
        } finally {
            silent.set(false);
        }
        assertThat(server.effects().of(key)).isZero();
    }

    static final class Switch {

        final AtomicBoolean silent = new AtomicBoolean();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    @Import({
        ExactlyOnceConfiguration.class,
        ExactlyOnceHandlers.class,
        ExactlyOnceHandlers.Advice.class,
        ExactlyOnceHandlers.Advised.class
    })
    static class Database {

        @Bean
        Switch databaseSwitch() {
            return new Switch();
        }

        @Bean
        DataSource dataSource(Switch databaseSwitch) {
            DataSource database = ExactlyOnceConfiguration.h2();
            JdbcClient.create(database)
                    .sql("create table ledger (k varchar(255) not null)")
                    .update();
            return new DelegatingDataSource(database) {
                @Override
                public Connection getConnection() throws SQLException {
                    if (databaseSwitch.silent.get()) {
                        throw new SQLException("silent", "08001");
                    }
                    return super.getConnection();
                }
            };
        }

        @Bean
        ExactlyOnceHandlers.Ledger ledger(DataSource dataSource) {
            return new ExactlyOnceHandlers.Ledger(dataSource);
        }

        @Bean
        WebSettings webSettings() {
            return new TestWebSettings()
                    .maxResponseSize(DataSize.ofKilobytes(256))
                    .maxSpillSize(DataSize.ofMegabytes(2))
                    .build();
        }
    }
}
