package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Case 120: refusals at the door. */
class ProblemHttpTests {

    private final TestServer server = Servers.leased();
    private final String key = TestServer.newKey();

    private static void assertIsProblem(Answer answer, String code) {
        Set<String> members = new TreeSet<>();
        answer.json().fieldNames().forEachRemaining(members::add);
        assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(answer.problem()).isEqualTo(code);
        assertThat(members).contains("type", "title", "status", "detail", "code");
        assertThat(answer.json().get("status").asInt()).isEqualTo(answer.status());
        assertThat(answer.headers("Idempotent-Replayed")).isEmpty();
    }

    /** Case 120. */
    @ParameterizedTest
    @ValueSource(strings = {"\"<script>", "a\"b", "\"a\\x\"", "<b>&amp;,x"})
    void echoesNoKey(String bad) throws Exception {
        try (TestServer.Raw raw = server.raw()) {
            Answer answer = raw.post("/cases/required", "{}", "Idempotency-Key: " + bad);

            assertIsProblem(answer, "key-invalid");
            assertThat(answer.text()).doesNotContain("script", "<b>", "a\\\"b", "&amp;");
        }
    }

    /** Case 120: whatever the client would like to have, a problem is JSON. */
    @Test
    void isJsonWhateverIsAccepted() {
        server.post("/cases/orders", key, "{\"a\":1}");
        Answer answer = server.post("/cases/orders", key, "{\"a\":2}", "Accept", "application/xml");

        assertIsProblem(answer, "key-reused");
        assertThat(answer.text()).doesNotContain(key, "\"a\"");
    }

    /** Case 94: what differs is told, and nothing of what it was. */
    @ParameterizedTest
    @CsvSource({
        "/cases/orders, '{\"a\":2}', application/json, body",
        "/cases/orders?dry=true, '{\"a\":1}', application/json, query",
        "/cases/orders, '{\"a\":1}', application/vnd.a+json, media-type"
    })
    void tellsWhichPartOfTheRequestDiffers(String path, String body, String type, String part) {
        server.post("/cases/orders", key, "{\"a\":1}");
        Answer answer = server.post(path, key, body, "Content-Type", type);

        assertIsProblem(answer, "key-reused");
        assertThat(answer.json().get("differences")).hasToString("[\"" + part + "\"]");
    }

    /** The client can read how long a retry gets this answer: on what is stored, and on a replay. */
    @Test
    void tellsWhenARecordExpires() {
        Answer first = server.post("/cases/required", key, "{}");
        Answer second = server.post("/cases/required", key, "{}");
        Answer unstored = server.post("/cases/statuses/503", TestServer.newKey(), "{}");

        for (Answer answer : List.of(first, second)) {
            Instant expiry =
                    Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(answer.header("Idempotency-Expires")));
            assertThat(expiry)
                    .isBetween(
                            Instant.now().plus(Duration.ofHours(23)),
                            Instant.now().plus(Duration.ofHours(25)));
        }
        assertThat(unstored.headers("Idempotency-Expires")).isEmpty();
    }

    @Test
    void speaksTheLanguageOfTheClient() {
        Answer chinese = server.post("/cases/required", null, "{}", "Accept-Language", "zh-CN,zh;q=0.9");
        Answer other = server.post("/cases/required", null, "{}", "Accept-Language", "fr");
        Answer none = server.post("/cases/required", null, "{}");

        assertIsProblem(chinese, "key-missing");
        assertThat(chinese.json().get("title").asText()).isEqualTo("\u7f3a\u5c11\u5e42\u7b49\u952e");
        assertThat(other.json().get("title").asText()).isEqualTo("Idempotency key missing");
        assertThat(none.json().get("title").asText()).isEqualTo("Idempotency key missing");
    }

    /** A record of another kind of door, or of a later version: refused, and never run again. */
    @Test
    void refusesARecordThatItCannotRead() {
        server.post("/cases/required", key, "{}");
        replaceResult(StoredResult.value("http/1", new byte[] {99}));
        assertIsProblem(server.post("/cases/required", key, "{}"), "result-unreadable");

        replaceResult(StoredResult.value("json", new byte[] {1}));
        assertIsProblem(server.post("/cases/required", key, "{}"), "result-unreadable");

        replaceResult(StoredResult.notReplayable("none", new byte[0]));
        Answer resolved = server.post("/cases/required", key, "{}");
        assertIsProblem(resolved, "result-not-replayable");
        assertThat(resolved.json().has("originalStatus")).isFalse();
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    private void replaceResult(StoredResult result) {
        IdempotencyStore store = server.bean(IdempotencyEngine.class).store();
        RecordId id = RecordId.of("required", HttpScope.of(null, "", "POST", "/cases/required"), key);
        var record = store.find(id).orElseThrow();
        assertThat(store.forget(id)).isTrue();
        store.recordDone(
                new io.idempotency.spi.ClaimRequest(
                        id,
                        "required",
                        record.guarantee(),
                        record.owner(),
                        record.fingerprint(),
                        Duration.ofSeconds(30),
                        Duration.ofHours(1),
                        null),
                result);
    }
}
