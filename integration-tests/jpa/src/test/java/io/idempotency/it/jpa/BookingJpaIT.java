package io.idempotency.it.jpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/** However the business transaction ends: never DONE without the business row, never the row without DONE. */
@ParameterizedClass(name = "{0}, open-in-view={1}")
@CsvSource({"H2, true", "H2, false", "POSTGRESQL, true", "POSTGRESQL, false"})
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BookingJpaIT {

    private final HttpClient http = HttpClient.newHttpClient();
    private @Nullable EmbeddedPostgres postgres;

    @Parameter(0)
    private String database;

    @Parameter(1)
    private boolean openInView;

    private @Nullable ConfigurableApplicationContext application;
    private JdbcTemplate jdbc;

    @BeforeParameterizedClassInvocation
    void start() throws IOException {
        List<String> arguments = new ArrayList<>(List.of(
                "--server.port=0",
                "--spring.main.banner-mode=off",
                "--spring.jpa.open-in-view=" + openInView,
                "--spring.jpa.hibernate.ddl-auto=create",
                "--idempotency.store=jdbc",
                "--idempotency.jdbc.initialize-schema=always",
                "--idempotency.minimum-guarantee=exactly-once"));
        if (database.equals("POSTGRESQL")) {
            if (postgres == null) {
                postgres = EmbeddedPostgres.builder()
                        .setServerConfig("fsync", "off")
                        .start();
            }
            arguments.add("--spring.datasource.url=" + postgres.getJdbcUrl("postgres", "postgres"));
        } else {
            arguments.add("--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID());
        }
        application = SpringApplication.run(BookingApplication.class, arguments.toArray(String[]::new));
        jdbc = application.getBean(JdbcTemplate.class);
    }

    private String postgresUrl() throws IOException {
        String external = System.getenv("IDEMPOTENCY_TEST_PG_URL");
        if (external != null && !external.isBlank()) {
            return external;
        }
        if (postgres == null) {
            postgres =
                    EmbeddedPostgres.builder().setServerConfig("fsync", "off").start();
        }
        return postgres.getJdbcUrl("postgres", "postgres");
    }

    @AfterParameterizedClassInvocation
    void stop() {
        if (application != null) {
            application.close();
        }
    }

    @AfterAll
    void stopPostgres() throws IOException {
        if (postgres != null) {
            postgres.close();
        }
    }

    @Test
    void committedRowIsDone() {
        String key = unique();
        String reference = unique();

        HttpResponse<String> first = post("book", reference, key);

        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(first.body()).contains("\"seats\":[\"12A\"]");
        assertReplay(first, "book", reference, key);
        assertThat(rows(reference)).isEqualTo(1);
    }

    @Test
    void changeThatIsFlushedByTheCommitIsDone() {
        String key = unique();
        String reference = unique();
        post("book", reference, unique());

        HttpResponse<String> first = post("change", reference, key);

        assertThat(first.statusCode()).isEqualTo(201);
        assertReplay(first, "change", reference, key);
        assertThat(jdbc.queryForObject("select changes from booking where reference = ?", Integer.class, reference))
                .isEqualTo(1);
    }

    @Test
    void constraintViolationAtCommitLeavesNoRecord() {
        String key = unique();
        String reference = unique();
        post("book", reference, unique());
        int done = done();

        HttpResponse<String> failed = post("book", reference, key);

        assertThat(failed.statusCode()).isEqualTo(422);
        assertThat(failed.body()).isEqualTo("reference is taken");
        assertThat(rows(reference)).isEqualTo(1);
        assertThat(done()).isEqualTo(done);

        delete(reference);
        HttpResponse<String> retry = post("book", reference, key);
        assertThat(retry.statusCode()).isEqualTo(201);
        assertReplay(retry, "book", reference, key);
        assertThat(rows(reference)).isEqualTo(1);
    }

    @Test
    void constraintViolationAtFlushIsRecordedAsTheAnswerThatTheApplicationGives() {
        String key = unique();
        String reference = unique();
        post("book", reference, unique());

        HttpResponse<String> refused = post("book-and-flush", reference, key);

        assertThat(refused.statusCode()).isEqualTo(422);
        assertThat(refused.body()).isEqualTo("reference is taken");
        assertReplay(refused, "book-and-flush", reference, key);
        assertThat(rows(reference)).isEqualTo(1);
    }

    @Test
    void exceptionOfTheServiceIsRecordedAsTheAnswerOfTheAdvice() {
        String key = unique();
        String reference = unique();

        HttpResponse<String> refused = post("throw", reference, key);

        assertThat(refused.statusCode()).isEqualTo(402);
        assertReplay(refused, "throw", reference, key);
        assertThat(rows(reference)).isZero();
    }

    @Test
    void controllerThatCatchesTheExceptionOfItsServiceStillAnswers402() {
        String key = unique();
        String reference = unique();

        HttpResponse<String> refused = post("catch", reference, key);

        assertThat(refused.statusCode()).isEqualTo(402);
        assertReplay(refused, "catch", reference, key);
        assertThat(rows(reference)).isZero();
    }

    @Test
    void checkedExceptionOfATransactionalHandlerCommitsTheRowAndTheRecord() {
        String key = unique();
        String reference = unique();

        HttpResponse<String> noticed = post("notify-and-commit", reference, key);

        assertThat(noticed.statusCode()).isEqualTo(422);
        assertReplay(noticed, "notify-and-commit", reference, key);
        assertThat(rows(reference)).isEqualTo(1);
    }

    /** A handler that is not transactional itself has asked for no commit of half of its work. */
    @Test
    void checkedExceptionOfAnyOtherHandlerRollsBackAndIsRecordedAsTheAnswer() {
        String key = unique();
        String reference = unique();

        HttpResponse<String> noticed = post("notify", reference, key);

        assertThat(noticed.statusCode()).isEqualTo(422);
        assertReplay(noticed, "notify", reference, key);
        assertThat(rows(reference)).isZero();
    }

    @Test
    void swallowedInnerExceptionRollsBackAndLeavesNoRecord() {
        assertRollsBackAndRunsAgain("swallow", 500);
    }

    @Test
    void exceptionBeforeCommitRollsBackAndLeavesNoRecord() {
        assertRollsBackAndRunsAgain("fail-before-commit", 402);
    }

    private void assertRollsBackAndRunsAgain(String path, int status) {
        String key = unique();
        String reference = unique();
        int done = done();
        int runs = BookingController.runs.get();

        HttpResponse<String> failed = post(path, reference, key);
        HttpResponse<String> retry = post(path, reference, key);

        assertThat(failed.statusCode()).isEqualTo(status);
        assertThat(failed.body()).doesNotContain("seats");
        assertThat(retry.statusCode()).isEqualTo(status);
        assertThat(replayed(retry)).isFalse();
        assertThat(BookingController.runs.get() - runs).isEqualTo(2);
        assertThat(rows(reference)).isZero();
        assertThat(done()).isEqualTo(done);
    }

    private void assertReplay(HttpResponse<String> first, String path, String reference, String key) {
        int runs = BookingController.runs.get();

        HttpResponse<String> retry = post(path, reference, key);

        assertThat(replayed(first)).isFalse();
        assertThat(replayed(retry)).isTrue();
        assertThat(retry.statusCode()).isEqualTo(first.statusCode());
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(BookingController.runs).hasValue(runs);
    }

    private HttpResponse<String> post(String path, String reference, String key) {
        String port = application.getEnvironment().getProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://localhost:" + port + "/" + path + "/" + reference))
                .header("Idempotency-Key", key)
                .POST(BodyPublishers.noBody())
                .build();
        try {
            return http.send(request, BodyHandlers.ofString());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static boolean replayed(HttpResponse<String> response) {
        return response.headers().firstValue("Idempotent-Replayed").isPresent();
    }

    private int rows(String reference) {
        return jdbc.queryForObject("select count(*) from booking where reference = ?", Integer.class, reference);
    }

    private int done() {
        return jdbc.queryForObject("select count(*) from idempotency_record where state = 'D'", Integer.class);
    }

    private void delete(String reference) {
        jdbc.update(
                "delete from booking_seats where booking_id = (select id from booking where reference = ?)", reference);
        jdbc.update("delete from booking where reference = ?", reference);
    }

    private static String unique() {
        return UUID.randomUUID().toString();
    }
}
