package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Case 98: whoever reads the request sees all of it. */
class BodyHttpTests {

    private static final String FORM = "name=charg%C3%A9e+%26+co&tag=1&tag=%E4%B8%AD";

    private final TestServer server = Servers.leased(container());
    private final String key = TestServer.newKey();

    Container container() {
        return Container.TOMCAT;
    }

    private Answer form(String method, String path, String body) {
        return form(server, method, path, body);
    }

    private Answer form(TestServer at, String method, String path, String body) {
        return at.send(
                method,
                path,
                key,
                body.getBytes(StandardCharsets.US_ASCII),
                "Content-Type",
                "application/x-www-form-urlencoded");
    }

    /** Case 98. */
    @ParameterizedTest
    @CsvSource({"POST, params", "PUT, params", "POST, model", "POST, map", "PUT, map"})
    void showsFormFieldsToEverybody(String method, String how) {
        Answer first = form(method, "/bodies/" + how, FORM);
        Answer second = form(method, "/bodies/" + how, FORM);

        assertThat(first.text()).isEqualTo("charg\u00e9e & co [1, \u4e2d]");
        assertThat(second.replayed()).isTrue();
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 98. */
    @Test
    void showsAFormAsItCameToWhoReadsTheStream() {
        assertThat(form("POST", "/bodies/bytes", FORM).text()).isEqualTo(FORM);
        assertThat(form("POST", "/bodies/bytes", FORM).replayed()).isTrue();
        assertThat(form("POST", "/bodies/reader", FORM).text()).isEqualTo(FORM);
    }

    @Test
    void showsParametersOfQueryAndFormAndTheStreamAsWell() {
        Answer answer = form("POST", "/bodies/everything?name=first&q=%C3%A9", FORM);

        assertThat(answer.json().get("first").asText()).isEqualTo("first");
        assertThat(answer.json().get("names").toString()).isEqualTo("[\"name\",\"q\",\"tag\"]");
        assertThat(answer.json().get("map").toString())
                .isEqualTo(
                        "{\"name\":[\"first\",\"charg\u00e9e & co\"],\"q\":[\"\u00e9\"],\"tag\":[\"1\",\"\u4e2d\"]}");
        assertThat(answer.json().get("body").asText()).isEqualTo(FORM);
    }

    @Test
    void comparesFormsByTheirFields() {
        form("POST", "/bodies/params", "name=a&tag=1&tag=2");

        assertThat(form("POST", "/bodies/params", "tag=1&name=%61&tag=2").replayed())
                .isTrue();
        assertThat(form("POST", "/bodies/params", "name=a&tag=2&tag=1").problem())
                .isEqualTo("key-reused");
        assertThat(form("POST", "/bodies/params", "name=b&tag=1&tag=2").problem())
                .isEqualTo("key-reused");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8192, 1024 * 1024})
    void showsABodyOfAnySizeUpToTheLimit(int size) {
        byte[] body = new byte[size];
        for (int i = 0; i < size; i++) {
            body[i] = (byte) i;
        }
        Answer first = server.send("POST", "/bodies/bytes", key, body, "Content-Type", "application/octet-stream");

        assertThat(first.body()).isEqualTo(body);
    }

    @Test
    void refusesALargerBody() {
        byte[] body = new byte[1024 * 1024 + 1];
        Answer answer = server.send("POST", "/bodies/bytes", key, body, "Content-Type", "application/octet-stream");

        assertThat(answer.status()).isEqualTo(413);
        assertThat(answer.problem()).isEqualTo("request-too-large");
        assertThat(server.effects().of(key)).isZero();
    }

    @Test
    void refusesALargerBodyThatDoesNotTellItsLength() throws Exception {
        try (TestServer.Raw raw = server.raw()) {
            raw.write(("POST /bodies/bytes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
                            + "Idempotency-Key: " + key + "\r\nTransfer-Encoding: chunked\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            String chunk = "x".repeat(65536);
            for (int i = 0; i < 17; i++) {
                raw.write(("10000\r\n" + chunk + "\r\n").getBytes(StandardCharsets.US_ASCII));
            }

            // Before its end, which may never come.
            assertThat(raw.read().status()).isEqualTo(413);
        }
        assertThat(server.effects().of(key)).isZero();
    }

    /** A body within the limit whose fields would take many times its size, and whom no server counts for us. */
    @Test
    void refusesAFloodOfFields() {
        assertThat(form("POST", "/bodies/params", "name=a&tag=1" + "&x".repeat(9_998))
                        .text())
                .isEqualTo("a [1]");

        Answer flood = form("POST", "/bodies/bytes", "name=a&tag=1" + "&x".repeat(9_999));
        assertThat(flood.status()).isEqualTo(413);
        assertThat(flood.problem()).isEqualTo("request-too-large");
        assertThat(form("POST", "/bodies/params", "&".repeat(1_000_000)).problem())
                .isEqualTo("request-too-large");
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    private Answer upload(String boundary, String note, String file) {
        return upload(boundary, "note", note, "a.txt", "text/plain", file);
    }

    private Answer upload(String boundary, String name, String note, String fileName, String type, String file) {
        String body = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + note
                + "\r\n--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + fileName
                + "\"\r\nContent-Type: " + type + "\r\n\r\n" + file + "\r\n--" + boundary + "--\r\n";
        return server.send(
                "POST",
                "/bodies/upload",
                key,
                body.getBytes(StandardCharsets.UTF_8),
                "Content-Type",
                "multipart/form-data; boundary=" + boundary);
    }

    @Test
    void showsPartsAndComparesThemWithoutTheirBoundary() {
        Answer first = upload("one", "charg\u00e9e", "content");
        Answer second = upload("two", "charg\u00e9e", "content");

        assertThat(first.status()).isEqualTo(200);
        assertThat(first.json().get("note").asText()).isEqualTo("charg\u00e9e");
        assertThat(first.json().get("name").asText()).isEqualTo("a.txt");
        assertThat(first.json().get("size").asInt()).isEqualTo(7);
        assertThat(first.json().get("parts").toString()).isEqualTo("[\"note\",\"file\"]");
        assertThat(second.replayed()).isTrue();
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(upload("one", "charg\u00e9e", "other").problem()).isEqualTo("key-reused");
        assertThat(upload("one", "other", "content").problem()).isEqualTo("key-reused");
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Not only what is in a part: what it is called and said to be as well. */
    @Test
    void comparesTheHeadersOfParts() {
        upload("one", "note", "n", "a.txt", "text/plain", "content");

        assertThat(upload("one", "other", "n", "a.txt", "text/plain", "content").problem())
                .isEqualTo("key-reused");
        assertThat(upload("one", "note", "n", "b.txt", "text/plain", "content").problem())
                .isEqualTo("key-reused");
        assertThat(upload("one", "note", "n", "a.txt", "text/html", "content").problem())
                .isEqualTo("key-reused");
        assertThat(upload("one", "note", "n", "a.txt", "text/plain", "content").replayed())
                .isTrue();
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    @Test
    void refusesPartsThatAreTooLarge() {
        assertThat(upload("one", "n", "x".repeat(1024 * 1024)).problem()).isEqualTo("request-too-large");
    }

    /** Each of them is smaller than what Spring takes, and no length tells how large they are together. */
    @Test
    void refusesPartsThatAreTooLargeTogether() throws Exception {
        String part = "--one\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n"
                + "x".repeat(600 * 1024) + "\r\n";
        String body = part + part + "--one--\r\n";
        try (TestServer.Raw raw = server.raw()) {
            raw.write(("POST /bodies/upload HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: " + key
                            + "\r\nContent-Type: multipart/form-data; boundary=one\r\nTransfer-Encoding: chunked\r\n\r\n"
                            + Integer.toHexString(body.length()) + "\r\n" + body + "\r\n0\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));

            assertThat(raw.read().problem()).isEqualTo("request-too-large");
        }
        assertThat(server.effects().of(key)).isZero();
    }

    @Test
    void leavesPartsThatCannotBeReadToSpring() {
        Answer answer = server.send(
                "POST",
                "/bodies/upload",
                key,
                "no parts".getBytes(StandardCharsets.US_ASCII),
                "Content-Type",
                "multipart/form-data");

        assertThat(answer.status()).isBetween(400, 500);
        assertThat(server.effects().of(key)).isZero();
    }

    @Test
    void findsTheHandlerByTheFieldsOfAForm() {
        assertThat(form("POST", "/bodies/variants/x", "kind=a").text()).isEqualTo("a x a");
        assertThat(form("POST", "/bodies/variants/x", "kind=a").replayed()).isTrue();
        assertThat(form("POST", "/bodies/variants/x", "kind=b").text()).isEqualTo("b x b");
    }
}
