package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

    private static final String ORDER =
            "{\"amount\":4711,\"items\":[{\"sku\":\"a\"},{\"sku\":\"s3cr3t\"}],\"note\":\"gift\"}";

    private static final String OTHER_ORDER =
            "{\"note\":\"gift\",\"items\":[{\"sku\":\"a\"},{\"sku\":\"c\"}],\"amount\":4712}";

    /** Case 94: of JSON the members too, also while the first call runs. */
    @Test
    void tellsWhichMembersOfJsonDiffer() {
        CompletableFuture<Answer> first;
        Answer whileRunning;
        try (Effects.Stop stop = server.effects().stop(key)) {
            first = server.postLater("/cases/json", key, ORDER);
            stop.awaitArrival();
            whileRunning = server.post("/cases/json", key, OTHER_ORDER);
        }
        assertThat(first.join().status()).isEqualTo(201);
        Answer chinese = server.post("/cases/json", key, OTHER_ORDER, "Accept-Language", "zh");
        Answer otherQuery = server.post("/cases/json?dry=true", key, ORDER);

        for (Answer answer : List.of(whileRunning, chinese)) {
            assertIsProblem(answer, "key-reused");
            assertThat(answer.json().get("differences")).hasToString("[\"body\"]");
            assertThat(answer.json().get("pointers")).hasToString("[\"/items/1/sku\",\"/amount\"]");
            assertThat(answer.json().get("detail").asText()).contains("body (/items/1/sku, /amount)");
            assertThat(answer.text()).doesNotContain("4711", "4712", "s3cr3t", "gift", key);
        }
        assertThat(whileRunning.json().get("detail").asText()).contains("What differs: ");
        assertThat(chinese.json().get("detail").asText()).contains("\u4e0d\u540c\u4e4b\u5904");
        assertThat(otherQuery.json().get("differences")).hasToString("[\"query\"]");
        assertThat(otherQuery.json().has("pointers")).isFalse();
    }

    /** What cannot be compared by value, or has more members than can be told apart, differs as a whole. */
    @ParameterizedTest
    @ValueSource(strings = {"{\"amount\":1,\"amount\":2}", "[1,2", "many"})
    void tellsOfOtherBodiesThatTheyDiffer(String body) {
        String many = IntStream.range(0, 300).mapToObj(Integer::toString).collect(Collectors.joining(",", "[", "]"));
        server.post("/cases/json", key, ORDER);
        Answer answer = server.post("/cases/json", key, body.equals("many") ? many : body);

        assertIsProblem(answer, "key-reused");
        assertThat(answer.json().get("differences")).hasToString("[\"body\"]");
        assertThat(answer.json().has("pointers")).isFalse();
        assertThat(answer.json().get("detail").asText()).contains("What differs: body. ");
    }

    /**
     * While a deployment rolls: the version before made other fingerprints. They never contradict ours, and its nodes can read ours, whose
     * text is no longer.
     */
    @Test
    void neverRefusesByAFingerprintOfTheVersionBefore() {
        server.post("/cases/json", key, ORDER);
        Fingerprint ours = replaceRecord("json", new Fingerprint("http-json/2", "0".repeat(62)), null);

        Answer answer = server.post("/cases/json", key, OTHER_ORDER);

        assertThat(answer.replayed()).isTrue();
        assertThat(ours.scheme()).isEqualTo("http-json/3");
        assertThat(ours.digest()).hasSize(64).matches("[A-Za-z0-9_-]+");
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
        replaceRecord("required", null, result);
    }

    /** @return the fingerprint that it had */
    private Fingerprint replaceRecord(String operation, Fingerprint fingerprint, StoredResult result) {
        IdempotencyStore store = server.bean(IdempotencyEngine.class).store();
        RecordId id = RecordId.of(operation, HttpScope.of(null, "", "POST", "/cases/" + operation), key);
        var record = store.find(id).orElseThrow();
        assertThat(store.forget(id)).isTrue();
        store.recordDone(
                new io.idempotency.spi.ClaimRequest(
                        id,
                        operation,
                        record.guarantee(),
                        record.owner(),
                        fingerprint == null ? record.fingerprint() : fingerprint,
                        Duration.ofSeconds(30),
                        Duration.ofHours(1),
                        null),
                result == null ? record.result() : result);
        return record.fingerprint();
    }
}
