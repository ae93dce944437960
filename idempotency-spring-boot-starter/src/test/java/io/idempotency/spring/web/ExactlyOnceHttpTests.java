package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.unit.DataSize;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** EXACTLY_ONCE over the whole exchange: the business row and the stored answer are there together or not at all. */
class ExactlyOnceHttpTests {

    private static TestServer server;

    private final String key = TestServer.newKey();

    @BeforeAll
    static void start() {
        server = TestServer.start(Database.class);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private Answer post(String path) {
        return server.post("/tx/" + path, key, "{}");
    }

    private int rows() {
        return server.bean(Ledger.class).rows(key);
    }

    private int records() {
        return server.bean(Ledger.class).records();
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

    @Test
    void runsOneOfTwentyEqualRequests() {
        List<CompletableFuture<Answer>> all;
        try (Effects.Stop stop = server.effects().stop(key)) {
            all = IntStream.range(0, 20)
                    .mapToObj(i -> server.postLater("/tx/pay", key, "{}"))
                    .toList();
            stop.awaitArrival();
            await().untilAsserted(() ->
                    assertThat(all.stream().filter(CompletableFuture::isDone)).hasSize(19));
        }
        List<Answer> answers = all.stream().map(CompletableFuture::join).toList();

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
    @ValueSource(strings = {"callable", "start-async"})
    void undoesWhatWouldEndOnAnotherThread(String path) {
        int before = records();
        Answer answer = post(path);

        assertThat(answer.status()).isEqualTo(500);
        assertThat(answer.json().get("detail").asText())
                .contains("AT_LEAST_ONCE", "operation " + path.replace("-", ""));
        assertThat(rows()).isZero();
        assertThat(records()).isEqualTo(before);
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

    static class Ledger {

        private final JdbcClient jdbc;

        Ledger(DataSource dataSource) {
            jdbc = JdbcClient.create(dataSource);
        }

        @Transactional
        public void add(String key) {
            insert(key);
        }

        @Transactional
        public void addAndThrow(String key, RuntimeException failure) {
            insert(key);
            throw failure;
        }

        private void insert(String key) {
            jdbc.sql("insert into ledger (k) values (?)").param(key).update();
        }

        int rows(String key) {
            return jdbc.sql("select count(*) from ledger where k = ?")
                    .param(key)
                    .query(Integer.class)
                    .single();
        }

        int records() {
            return jdbc.sql("select count(*) from idempotency_record")
                    .query(Integer.class)
                    .single();
        }
    }

    static final class Rejected extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    static final class Enveloped extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    static final class Stored extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    static final class Checked extends Exception {
        private static final long serialVersionUID = 1L;
    }

    static final class CheckedUnhandled extends Exception {
        private static final long serialVersionUID = 1L;
    }

    @RestController
    @RequestMapping("/tx")
    static class Handlers {

        private final Ledger ledger;
        private final Effects effects;

        Handlers(Ledger ledger, Effects effects) {
            this.ledger = ledger;
            this.effects = effects;
        }

        private void act(String key) {
            ledger.add(key);
            effects.add(key);
        }

        @PostMapping("/pay")
        @Idempotent
        ResponseEntity<Map<String, Object>> pay(@RequestHeader("Idempotency-Key") String key) {
            act(key);
            effects.passStop(key);
            return ResponseEntity.created(URI.create("/payments/1")).body(Map.of("n", effects.of(key)));
        }

        @PostMapping("/transactional")
        @Idempotent
        @Transactional
        public ResponseEntity<Map<String, Object>> transactional(@RequestHeader("Idempotency-Key") String key) {
            return pay(key);
        }

        @PostMapping("/fail")
        @Idempotent
        void fail(@RequestHeader("Idempotency-Key") String key) {
            act(key);
            throw new IllegalStateException("unhandled");
        }

        @PostMapping("/status-{status}")
        @Idempotent
        ResponseEntity<Void> status(@PathVariable int status, @RequestHeader("Idempotency-Key") String key) {
            act(key);
            return ResponseEntity.status(status).build();
        }

        @PostMapping("/rejected")
        @Idempotent
        void rejected(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            ledger.addAndThrow(key, new Rejected());
        }

        @PostMapping("/caught")
        @Idempotent
        ResponseEntity<ProblemDetail> caught(@RequestHeader("Idempotency-Key") String key) {
            try {
                rejected(key);
                return ResponseEntity.ok().build();
            } catch (Rejected e) {
                return ResponseEntity.of(ProblemDetail.forStatus(402)).build();
            }
        }

        @PostMapping("/caught-and-praised")
        @Idempotent(operation = "praised")
        ResponseEntity<String> caughtAndPraised(@RequestHeader("Idempotency-Key") String key) {
            caught(key);
            return ResponseEntity.created(URI.create("/payments/1")).body("paid");
        }

        @PostMapping("/enveloped")
        @Idempotent
        void enveloped(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            ledger.addAndThrow(key, new Enveloped());
        }

        @PostMapping("/stored")
        @Idempotent(storeFailures = Stored.class)
        void stored(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            ledger.addAndThrow(key, new Stored());
        }

        @PostMapping("/checked")
        @Idempotent
        void checked(@RequestHeader("Idempotency-Key") String key) throws Checked {
            act(key);
            throw new Checked();
        }

        @PostMapping("/checked-unhandled")
        @Idempotent(operation = "checked-unhandled")
        void checkedUnhandled(@RequestHeader("Idempotency-Key") String key) throws CheckedUnhandled {
            act(key);
            throw new CheckedUnhandled();
        }

        @PostMapping("/bound")
        @Idempotent
        void bound(@RequestHeader("Idempotency-Key") String key, @RequestBody Map<String, Object> body) {
            act(key);
        }

        @PostMapping("/commit-fails")
        @Idempotent(operation = "commit-fails")
        String commitFails(@RequestHeader("Idempotency-Key") String key) {
            act(key);
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void beforeCommit(boolean readOnly) {
                    throw new DataIntegrityViolationException("seen by the flush");
                }
            });
            return "too early";
        }

        @PostMapping("/flushing")
        @Idempotent
        void flushing(@RequestHeader("Idempotency-Key") String key, HttpServletResponse response) throws IOException {
            act(key);
            response.setContentType("text/plain");
            response.getWriter().print("x".repeat(50_000));
            response.flushBuffer();
            response.getWriter().print("y".repeat(50_000));
            response.getWriter().flush();
            effects.passStop(key);
        }

        @PostMapping("/large/{size}")
        @Idempotent
        void large(@PathVariable int size, @RequestHeader("Idempotency-Key") String key, HttpServletResponse response)
                throws IOException {
            act(key);
            response.setContentType("application/octet-stream");
            byte[] block = new byte[1024];
            for (int i = 0; i < size / block.length; i++) {
                response.getOutputStream().write(block);
            }
        }

        @PostMapping("/callable")
        @Idempotent
        Object callable(@RequestHeader("Idempotency-Key") String key) {
            act(key);
            return (Callable<String>) () -> "later";
        }

        @PostMapping("/start-async")
        @Idempotent
        void startAsync(@RequestHeader("Idempotency-Key") String key, HttpServletRequest request) {
            act(key);
            request.startAsync();
        }
    }

    @RestControllerAdvice
    static class Advice {

        @ExceptionHandler(Rejected.class)
        ProblemDetail onRejected() {
            return ProblemDetail.forStatus(402);
        }

        @ExceptionHandler(Enveloped.class)
        @ResponseStatus(HttpStatus.OK)
        Map<String, Object> onEnveloped() {
            return Map.of("code", 402);
        }

        @ExceptionHandler(Stored.class)
        ProblemDetail onStored() {
            return ProblemDetail.forStatus(502);
        }

        @ExceptionHandler(Checked.class)
        ProblemDetail onChecked() {
            return ProblemDetail.forStatus(422);
        }

        @ExceptionHandler(DataIntegrityViolationException.class)
        ProblemDetail onIntegrity() {
            return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, "integrity");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    @Import({ExactlyOnceConfiguration.class, Handlers.class, Advice.class})
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
        Ledger ledger(DataSource dataSource) {
            return new Ledger(dataSource);
        }

        @Bean
        WebSettings webSettings() {
            WebSettings defaults = WebSettings.defaults();
            return new WebSettings(
                    defaults.header(),
                    defaults.maxRequestSize(),
                    DataSize.ofKilobytes(256),
                    DataSize.ofMegabytes(2),
                    defaults.anonymous(),
                    defaults.replayedHeader(),
                    defaults.replayHeaders(),
                    defaults.problemTypeBase());
        }
    }
}
