package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.RecordId;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Cases 102, 105, 108, 114, 115, 118 and 126: a first answer is what it would be without the library, and a replay is equal to it.
 */
class ResponseHttpTests {

    private static final Set<String> OF_ONE_TRANSFER =
            Set.of("date", "content-length", "transfer-encoding", "connection", "keep-alive", ":status");

    private final TestServer server = Servers.leased(container());
    private final String key = TestServer.newKey();

    Container container() {
        return Container.TOMCAT;
    }

    private static TreeMap<String, Object> comparable(Answer answer) {
        TreeMap<String, Object> headers = new TreeMap<>(answer.headers());
        headers.keySet().removeAll(OF_ONE_TRANSFER);
        headers.remove("idempotency-expires");
        headers.computeIfPresent("location", (name, value) -> value.toString().replaceAll(":[0-9]+/", "/"));
        return headers;
    }

    /** Case 102. */
    @ParameterizedTest
    @ValueSource(ints = {200, 201, 202, 203, 206, 207, 226, 299, 404, 410})
    void replaysTheVeryStatus(int status) {
        Answer first = server.post("/responses/statuses/" + status, key, "{}");
        Answer second = server.post("/responses/statuses/" + status, key, "{}");

        assertThat(second.status()).isEqualTo(first.status()).isEqualTo(status);
        assertThat(second.body()).isEqualTo(first.body());
        TreeMap<String, Object> expected = comparable(first);
        expected.put("idempotent-replayed", java.util.List.of("true"));
        assertThat(comparable(second)).isEqualTo(expected);
    }

    @Test
    void replaysAnAnswerWithoutBody() {
        Answer first = server.post("/responses/no-content", key, "{}");
        Answer second = server.post("/responses/no-content", key, "{}");

        assertThat(first.status()).isEqualTo(204);
        assertThat(second.status()).isEqualTo(204);
        assertThat(second.header("ETag")).isEqualTo("\"v1\"");
        assertThat(second.replayed()).isTrue();
        assertThat(second.body()).isEmpty();
    }

    /** Cases 108 and 115, the first half: nobody sees that the library is there. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "bytes", "latin1", "latin1-default", "utf16", "json-writer", "json-stream", "late-encoding", "locale",
                "no-type", "flush", "stream-flush", "flush-then-reset", "reset", "reset-buffer", "close", "redirect",
                "content-length", "forward", "include"
            })
    void answersAsWithoutTheLibraryAndReplaysTheSame(String how) {
        Answer plain = Servers.plain(container()).post("/responses/raw/" + how, key, "{}");
        Answer first = server.post("/responses/raw/" + how, key, "{}");
        Answer second = server.post("/responses/raw/" + how, key, "{}");

        assertThat(first.status()).isEqualTo(plain.status());
        assertThat(first.body()).isEqualTo(plain.body());
        assertThat(comparable(first)).isEqualTo(comparable(plain));
        assertThat(second.replayed()).isTrue();
        assertThat(second.status()).isEqualTo(first.status());
        assertThat(second.body()).isEqualTo(first.body());
        TreeMap<String, Object> expected = comparable(first);
        expected.put("idempotent-replayed", java.util.List.of("true"));
        assertThat(comparable(second)).isEqualTo(expected);
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 108: which Jetty itself does not. */
    @Test
    void beginsWithAByteOrderMarkAlsoAfterAReset() {
        Answer first = server.post("/responses/raw/utf16-reset", key, "{}");
        Answer second = server.post("/responses/raw/utf16-reset", key, "{}");

        assertThat(first.body()).isEqualTo("charg\u00e9e again".getBytes(StandardCharsets.UTF_16));
        assertThat(second.replayed()).isTrue();
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(second.header("Content-Type")).isEqualTo(first.header("Content-Type"));
    }

    /** Case 108. */
    @Test
    void neverSpeaksOfACharsetNull() {
        for (String how : new String[] {"no-type", "bytes", "reset"}) {
            server.post("/responses/raw/" + how, key, "{}");
            Answer second = server.post("/responses/raw/" + how, key, "{}");

            assertThat(second.headers().toString()).doesNotContain("charset=null");
        }
    }

    /** Case 115: what was flushed is settled. */
    @Test
    void ignoresWhatComesAfterAFlush() {
        Answer first = server.post("/responses/raw/flush", key, "{}");

        assertThat(first.status()).isEqualTo(200);
        assertThat(first.header("ETag")).isEqualTo("\"before\"");
        assertThat(first.headers("Link")).isEmpty();
        assertThat(first.text()).isEqualTo("a".repeat(1024) + "b".repeat(1024));
    }

    /** Case 114: the container renders the page, for the first answer and for its replay. */
    @ParameterizedTest
    @ValueSource(strings = {"error", "error-plain", "error-then-write"})
    void letsTheContainerRenderAnError(String how) {
        Answer plain = Servers.plain(container()).post("/responses/raw/" + how, key, "{}");
        Answer first = server.post("/responses/raw/" + how, key, "{}");
        Answer second = server.post("/responses/raw/" + how, key, "{}");

        assertThat(first.status()).isEqualTo(plain.status());
        assertThat(comparable(first)).isEqualTo(comparable(plain));
        for (String member : new String[] {"status", "error", "path", "message"}) {
            assertThat(first.json().get(member)).isEqualTo(plain.json().get(member));
            assertThat(second.json().get(member)).isEqualTo(first.json().get(member));
        }
        assertThat(fieldNames(second)).isEqualTo(fieldNames(first)).isEqualTo(fieldNames(plain));
        assertThat(second.replayed()).isTrue();
        assertThat(second.status()).isEqualTo(first.status());
        // Tomcat forgets no charset that a handler has settled by getWriter(); the replay has no handler.
        assertThat(second.header("Content-Type"))
                .isEqualTo(first.header("Content-Type").replace(";charset=ISO-8859-1", ""));
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    private static Set<String> fieldNames(Answer answer) {
        Set<String> names = new TreeSet<>();
        answer.json().fieldNames().forEachRemaining(names::add);
        return names;
    }

    @Test
    void replaysTheRedirectOfAView() {
        Answer first = server.post("/responses/redirect-view", key, "{}");
        Answer second = server.post("/responses/redirect-view", key, "{}");

        assertThat(first.status()).isEqualTo(302);
        assertThat(second.status()).isEqualTo(302);
        assertThat(second.header("Location"))
                .isEqualTo(first.header("Location"))
                .endsWith("/elsewhere");
        assertThat(second.replayed()).isTrue();
    }

    /** Case 105. */
    @Test
    void leavesTheTransferToTheServer() throws Exception {
        String[] headers = {"Content-Type: application/json", "Idempotency-Key: " + key};
        try (TestServer.Raw raw = server.raw()) {
            Answer first = raw.post("/responses/transfer-headers", "{}", headers);
            Answer second = raw.post("/responses/transfer-headers", "{}", headers);
            Answer third = raw.post("/responses/transfer-headers", "{}", headers);

            for (Answer answer : new Answer[] {first, second, third}) {
                assertThat(answer.body()).hasSize(10240);
                assertThat(answer.headers("Content-Length").size()
                                + answer.headers("Transfer-Encoding").size())
                        .isEqualTo(1);
            }
            for (Answer replay : new Answer[] {second, third}) {
                assertThat(replay.replayed()).isTrue();
                assertThat(replay.header("Date")).doesNotContain("1970");
                assertThat(replay.headers().keySet())
                        .doesNotContain("trailer", "upgrade", "proxy-authenticate", "server", "x-internal");
                assertThat(replay.headers("Keep-Alive")).doesNotContain("timeout=99");
                assertThat(replay.headers("Link")).containsExactly("</one>; rel=\"first\"", "</two>; rel=\"next\"");
                assertThat(replay.header("ETag")).isEqualTo("\"v1\"");
                assertThat(replay.header("Content-Language")).isEqualTo("fr-CA");
                assertThat(replay.header("Content-Disposition")).isEqualTo("attachment; filename=\"a.txt\"");
            }
        }
    }

    /** Case 118. */
    @Test
    void marksReplaysAndNothingElse() {
        Answer first = server.post("/responses/forged", key, "{}");
        Answer second = server.post("/responses/forged", key, "{}");
        Answer reused = server.post("/responses/forged", key, "{\"other\":1}");

        assertThat(first.headers("Idempotent-Replayed")).isEmpty();
        assertThat(second.headers("Idempotent-Replayed")).containsExactly("true");
        assertThat(reused.headers("Idempotent-Replayed")).isEmpty();
        assertThat(server.post("/responses/forged", null, "{}").headers("Idempotent-Replayed"))
                .isEmpty();
    }

    /** Case 126. */
    @Test
    void keepsNoCookieAndNoSecretOfTheFirstAnswer() {
        Answer first = server.post("/responses/login", key, "{}");
        Answer second = server.post("/responses/login", key, "{}");

        assertThat(first.headers("Set-Cookie")).hasSize(3).anyMatch(cookie -> cookie.startsWith("JSESSIONID="));
        assertThat(first.header("WWW-Authenticate")).isEqualTo("Bearer realm=\"s3cr3t-realm\"");
        assertThat(first.header("X-CSRF-TOKEN")).isEqualTo("s3cr3t-csrf");
        assertThat(second.replayed()).isTrue();
        assertThat(second.headers().toString()).doesNotContain("s3cr3t", "JSESSIONID");
        assertThat(second.headers().keySet())
                .doesNotContain("set-cookie", "www-authenticate", "authorization", "clear-site-data");
        IdempotencyRecord record = server.bean(HookedStore.class)
                .store()
                .find(RecordId.of("login", HttpScope.of(null, "", "POST", "/responses/login"), key))
                .orElseThrow();
        assertThat(new String(record.result().toBytes(), StandardCharsets.ISO_8859_1))
                .contains("ok")
                .doesNotContain("s3cr3t", "JSESSIONID");
    }

    @Test
    void coversAForwardOfTheHandlerByTheHandlersOwnRecord() {
        Answer first = server.post("/responses/forward-view", key, "{}");
        Answer second = server.post("/responses/forward-view", key, "{}");

        assertThat(first.status()).isEqualTo(204);
        assertThat(second.status()).isEqualTo(204);
        assertThat(second.replayed()).isTrue();
        assertThat(server.effects().of(key)).isEqualTo(2);
    }

    @Test
    void doesNotCallAnIdempotentHandlerThatTheFilterDidNotSee() {
        Answer answer = server.post("/responses/stray-forward", key, "{}");

        assertThat(answer.status()).isEqualTo(500);
        assertThat(server.effects().of(key)).isZero();
    }
}
