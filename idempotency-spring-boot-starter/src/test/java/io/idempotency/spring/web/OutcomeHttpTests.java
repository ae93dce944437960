package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.StoreUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Cases 13, 19, 100 and 101: what becomes of an attempt, and what duplicates are told. Under the leased guarantees. */
class OutcomeHttpTests {

    private final TestServer server = Servers.leased(container());
    private final HookedStore store = server.bean(HookedStore.class);
    private final String key = TestServer.newKey();

    Container container() {
        return Container.TOMCAT;
    }

    /** Case 100. */
    @Test
    void refusesADuplicateOfARunningCallWithAHint() {
        CompletableFuture<Answer> first;
        Answer duplicate;
        try (Effects.Stop stop = server.effects().stop(key)) {
            first = server.postLater("/cases/required", key, "{}");
            stop.awaitArrival();
            duplicate = server.post("/cases/required", key, "{}");
        }

        assertThat(duplicate.status()).isEqualTo(409);
        assertThat(duplicate.problem()).isEqualTo("in-progress");
        assertThat(duplicate.json().get("type").asText()).isEqualTo("urn:idempotency:in-progress");
        assertThat(Integer.parseInt(duplicate.header("Retry-After"))).isBetween(1, 30);
        assertThat(first.join().status()).isEqualTo(201);
        await().untilAsserted(() ->
                assertThat(server.post("/cases/required", key, "{}").replayed()).isTrue());
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    @Test
    void runsOneOfTwentyEqualRequests() {
        List<Answer> answers = server.race(20, "/cases/required", key);

        assertThat(answers.stream().filter(answer -> answer.status() == 201)).hasSize(1);
        assertThat(answers.stream().filter(answer -> "in-progress".equals(answer.problem())))
                .hasSize(19);
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    @Test
    void letsDuplicatesWaitWhereTheyMay() {
        List<CompletableFuture<Answer>> all;
        try (Effects.Stop stop = server.effects().stop(key)) {
            all = server.postManyLater(5, "/cases/patient", key);
            stop.awaitArrival();
        }
        List<Answer> answers = all.stream().map(CompletableFuture::join).toList();

        assertThat(answers).allMatch(answer -> answer.status() == 201);
        assertThat(answers.stream().filter(Answer::replayed)).hasSize(4);
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 101. */
    @ParameterizedTest
    @ValueSource(ints = {200, 201, 202, 301, 302, 307, 400, 402, 404, 405, 406, 410, 413, 415, 418, 422, 451})
    void storesTheseStatuses(int status) {
        Answer first = server.post("/cases/statuses/" + status, key, "{}");
        Answer second = server.post("/cases/statuses/" + status, key, "{}");

        assertThat(first.status()).isEqualTo(status);
        assertThat(second.status()).isEqualTo(status);
        assertThat(second.replayed()).isTrue();
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 101. */
    @ParameterizedTest
    @ValueSource(ints = {401, 403, 408, 409, 421, 423, 425, 429, 500, 502, 503, 504})
    void releasesTheKeyAfterTheseStatuses(int status) {
        Answer first = server.post("/cases/statuses/" + status, key, "{}");
        Answer second = server.post("/cases/statuses/" + status, key, "{}");
        Answer third = server.post("/cases/statuses/" + status, key, "{}");

        assertThat(first.status()).isEqualTo(status);
        assertThat(second.status()).isEqualTo(201);
        assertThat(second.replayed()).isFalse();
        assertThat(third.replayed()).isTrue();
        assertThat(server.effects().of(key)).isEqualTo(2);
    }

    /** Case 101: under AT_MOST_ONCE. */
    @Test
    void holdsTheKeyAfterAServerErrorUnderAtMostOnce() {
        Answer first = server.post("/cases/at-most-once/statuses/503", key, "{}");
        Answer second = server.post("/cases/at-most-once/statuses/503", key, "{}");

        assertThat(first.status()).isEqualTo(503);
        assertThat(second.problem()).isEqualTo("in-progress");
        await().atMost(Duration.ofSeconds(5)).untilAsserted(() -> {
            Answer later = server.post("/cases/at-most-once/statuses/503", key, "{}");
            assertThat(later.problem()).isEqualTo("outcome-unknown");
            assertThat(later.status()).isEqualTo(409);
            assertThat(later.headers("Retry-After")).isEmpty();
        });
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** What never reached the handler leaves no record, whatever its status. */
    @ParameterizedTest
    @CsvSource({
        "/cases/bound/abc, '{\"value\":1}', application/json, 400",
        "/cases/bound/1, '{\"value\":', application/json, 400",
        "/cases/bound/1, '<value>1</value>', application/xml, 415",
        "/cases/nothing, '{}', application/json, 404",
        "/cases/context/x, '{}', application/json, 404"
    })
    void keepsNothingOfWhatNeverReachedItsHandler(String path, String body, String type, int status) {
        Answer first = server.post(path, key, body, "Content-Type", type);
        Answer second = server.post(path, key, body, "Content-Type", type);

        assertThat(first.status()).isEqualTo(status);
        assertThat(second.status()).isEqualTo(status);
        assertThat(second.headers("Idempotent-Replayed")).isEmpty();
        if (path.startsWith("/cases/bound/1")) {
            assertThat(server.post(path, key, "{\"value\":2}").status()).isEqualTo(201);
        }
    }

    /** Validation is asked again before a replay, but it has the same payload to look at. */
    @Test
    void keepsNothingOfWhatIsNotValid() {
        Answer invalid = server.post("/cases/validated", key, "{\"value\":0}");
        Answer valid = server.post("/cases/validated", key, "{\"value\":1}");
        Answer again = server.post("/cases/validated", key, "{\"value\":1}");

        assertThat(invalid.status()).isEqualTo(400);
        assertThat(valid.status()).isEqualTo(201);
        assertThat(again.replayed()).isTrue();
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    @Test
    void storesAFailureThatIsNamedAsAResultWhateverItsStatus() {
        Answer first = server.post("/cases/failures/stored", key, "{}");
        Answer second = server.post("/cases/failures/stored", key, "{}");

        assertThat(first.status()).isEqualTo(502);
        assertThat(second.status()).isEqualTo(502);
        assertThat(second.replayed()).isTrue();
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(second.header("Content-Type")).isEqualTo("application/problem+json");
    }

    @Test
    void releasesAFailureThatIsNamedHarmlessWhateverItsStatus() {
        Answer first = server.post("/cases/failures/released", key, "{}");
        Answer second = server.post("/cases/failures/released", key, "{}");

        assertThat(first.status()).isEqualTo(400);
        assertThat(second.status()).isEqualTo(201);
    }

    @ParameterizedTest
    @CsvSource({"rejected, 422", "status, 422", "envelope, 200"})
    void letsTheStatusDecideAboutOtherFailures(String kind, int status) {
        Answer first = server.post("/cases/failures/" + kind, key, "{}");
        Answer second = server.post("/cases/failures/" + kind, key, "{}");

        assertThat(first.status()).isEqualTo(status);
        assertThat(second.status()).isEqualTo(status);
        assertThat(second.replayed()).isTrue();
    }

    /** Case 114: a failure that nobody handles. */
    @Test
    void releasesTheKeyAfterAnUnhandledFailure() {
        Answer first = server.post("/cases/failures/unhandled", key, "{}");
        Answer plain = Servers.plain(container()).post("/cases/failures/unhandled", key, "{}");
        Answer second = server.post("/cases/failures/unhandled", key, "{}");

        assertThat(first.status()).isEqualTo(500);
        assertThat(first.header("Content-Type"))
                .isEqualTo(plain.header("Content-Type"))
                .isEqualTo("application/json");
        assertThat(first.json().get("error").asText()).isEqualTo("Internal Server Error");
        assertThat(first.json().get("path").asText()).isEqualTo("/cases/failures/unhandled");
        assertThat(second.status()).isEqualTo(201);
    }

    @Test
    void holdsTheKeyAfterAnErrorOfTheMachine() {
        Answer first = server.post("/cases/failures/error", key, "{}");
        Answer second = server.post("/cases/failures/error", key, "{}");

        assertThat(first.status()).isEqualTo(500);
        assertThat(second.problem()).isEqualTo("in-progress");
    }

    @Test
    void holdsTheKeyAfterAnyFailureUnderAtMostOnceThatIsNotProvenHarmless() {
        assertThat(server.post("/cases/at-most-once/failures/rejected", key, "{}")
                        .status())
                .isEqualTo(422);
        assertThat(server.post("/cases/at-most-once/failures/rejected", key, "{}")
                        .problem())
                .isEqualTo("in-progress");

        String other = TestServer.newKey();
        server.post("/cases/at-most-once/failures/unreachable", other, "{}");
        assertThat(server.post("/cases/at-most-once/failures/unreachable", other, "{}")
                        .status())
                .isEqualTo(201);
    }

    /** Case 13. */
    @Test
    void answersTheFirstCallerAlsoWhenItsResultCannotBeStored() throws Exception {
        Answer first;
        try (AutoCloseable ignored = store.failing("complete", () -> new StoreUnavailableException("down", null))) {
            store.drain();
            first = server.post("/cases/required", key, "{}");
            assertThat(store.drain().stream().filter("complete"::equals)).hasSizeGreaterThan(1);
        }
        Answer second = server.post("/cases/required", key, "{}");

        assertThat(first.status()).isEqualTo(201);
        assertThat(first.json().get("what").asText()).isEqualTo("required");
        assertThat(second.problem()).isEqualTo("in-progress");
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 19. */
    @Test
    void answersAsTheAdviceWantsAlsoWhenTheKeyCannotBeFreed() throws Exception {
        for (RuntimeException failure :
                List.of(new StoreUnavailableException("down", null), new IllegalStateException("a broken store"))) {
            try (AutoCloseable ignored = store.failing("release", () -> failure)) {
                Answer answer = server.post("/cases/failures/conflicting", TestServer.newKey(), "{}");

                assertThat(answer.status()).isEqualTo(409);
                assertThat(answer.json().get("detail").asText()).isEqualTo("stale");
            }
        }
    }

    @Test
    void refusesACallWhenTheStoreCannotAnswer() throws Exception {
        try (AutoCloseable ignored = store.failing("tryClaim", () -> new StoreUnavailableException("down", null))) {
            Answer answer = server.post("/cases/required", key, "{}");

            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.problem()).isEqualTo("store-unavailable");
            assertThat(answer.header("Retry-After")).isEqualTo("1");
            assertThat(answer.headers("Idempotent-Replayed")).isEmpty();
        }
        assertThat(server.effects().of(key)).isZero();
    }

    @Test
    void refusesDuplicatesWhereTheOperationWantsThat() {
        Answer first = server.post("/cases/once", key, "{}");
        Answer second = server.post("/cases/once", key, "{}");

        assertThat(first.status()).isEqualTo(201);
        assertThat(Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(first.header("Idempotency-Expires"))))
                .as("after its own retention")
                .isBefore(Instant.now().plus(Duration.ofMinutes(1)));
        assertThat(second.status()).isEqualTo(409);
        assertThat(second.problem()).isEqualTo("duplicate-rejected");
        assertThat(Integer.parseInt(second.header("Retry-After"))).isBetween(1, 5);
        assertThat(second.headers("Idempotent-Replayed")).isEmpty();
    }

    @Test
    void tellsThatACallWasDoneWhereOnlyTheFactIsKept() {
        server.post("/cases/fact", key, "{}");
        Answer second = server.post("/cases/fact", key, "{}");

        assertThat(second.status()).isEqualTo(409);
        assertThat(second.problem()).isEqualTo("result-not-replayable");
        assertThat(second.json().get("originalStatus").asInt()).isEqualTo(201);
        assertThat(second.header("Location")).isEqualTo("/cases/fact/1");
        assertThat(second.headers("Retry-After")).isEmpty();
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    @Test
    void bindsTheContextToTheHandler() {
        Answer answer = server.post("/cases/context", key, "{}");

        assertThat(answer.json().get("operation").asText()).isEqualTo("context");
        assertThat(answer.json().get("key").asText()).isEqualTo(key);
        assertThat(Stream.of(answer.json().get("child").asText())).allMatch(child -> child.length() == 36);
    }
}
