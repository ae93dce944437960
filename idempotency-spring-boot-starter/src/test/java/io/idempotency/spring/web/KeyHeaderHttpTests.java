package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cases 87, 88, 90, 91 and 92: the header of the key, at the door. */
class KeyHeaderHttpTests {

    private final TestServer server = Servers.leased(container());
    private final String key = TestServer.newKey();

    Container container() {
        return Container.TOMCAT;
    }

    private Answer raw(String path, String... headerLines) throws IOException {
        try (TestServer.Raw raw = server.raw()) {
            return raw.post(path, "{}", headerLines);
        }
    }

    /** Case 87. */
    @Test
    void refusesARequestWithoutTheKeyThatItsHandlerRequires() {
        Answer answer = server.post("/cases/required", null, "{}");

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.problem()).isEqualTo("key-missing");
        assertThat(answer.json().get("detail").asText()).contains("Idempotency-Key");
    }

    /** Case 87. */
    @Test
    void runsEveryRequestWithoutAKeyWhereItIsOptional() {
        int before = server.effects().of("none");

        Answer first = server.post("/cases/optional", null, "{}");
        Answer second = server.post("/cases/optional", null, "{}");

        assertThat(first.status()).isEqualTo(201);
        assertThat(second.status()).isEqualTo(201);
        assertThat(second.replayed()).isFalse();
        assertThat(server.effects().of("none")).isEqualTo(before + 2);
    }

    /** Case 87. */
    @Test
    void ignoresTheKeyWhereTheHandlerIsNotIdempotent() {
        server.post("/cases/uncovered", key, "{}");
        Answer second = server.post("/cases/uncovered", key, "{}");

        assertThat(second.status()).isEqualTo(201);
        assertThat(second.headers("Idempotent-Replayed")).isEmpty();
        assertThat(server.effects().of(key)).isEqualTo(2);
    }

    /** Case 87. */
    @ParameterizedTest
    @ValueSource(strings = {"/cases/required", "/cases/optional"})
    void replaysTheFirstAnswer(String path) {
        Answer first = server.post(path, key, "{}");
        Answer second = server.post(path, key, "{}");

        assertThat(first.status()).isEqualTo(201);
        assertThat(first.headers("Idempotent-Replayed")).isEmpty();
        assertThat(second.status()).isEqualTo(201);
        assertThat(second.replayed()).isTrue();
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(second.header("Location")).isEqualTo(first.header("Location"));
        assertThat(second.header("Content-Type")).isEqualTo(first.header("Content-Type"));
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 88: also where the key is optional, a blank one is an error of the client and no missing key. */
    @ParameterizedTest
    @ValueSource(strings = {"", "   ", "\t", "\"\"", "\"  \""})
    void refusesABlankKey(String blank) throws IOException {
        for (String path : new String[] {"/cases/required", "/cases/optional"}) {
            Answer answer = raw(path, "Idempotency-Key:" + blank);

            assertThat(answer.problem()).isEqualTo("key-invalid");
            assertThat(answer.status()).isEqualTo(400);
        }
    }

    /** Case 90. */
    @Test
    void refusesSeveralKeys() throws IOException {
        assertThat(raw("/cases/required", "Idempotency-Key: " + key, "Idempotency-Key: other")
                        .problem())
                .isEqualTo("key-invalid");
        assertThat(raw("/cases/required", "Idempotency-Key: " + key, "Idempotency-Key: " + key)
                        .problem())
                .isEqualTo("key-invalid");
        assertThat(raw("/cases/required", "Idempotency-Key: " + key + ", other").problem())
                .isEqualTo("key-invalid");
        assertThat(server.effects().of(key)).isZero();
    }

    /** Case 90. */
    @Test
    void takesTheHeaderInLowerCase() throws IOException {
        server.post("/cases/required", key, "{}");
        Answer second = raw("/cases/required", "Content-Type: application/json", "idempotency-key: " + key);

        assertThat(second.replayed()).isTrue();
    }

    @Test
    void takesAQuotedKeyForTheSameAsABareOne() throws IOException {
        server.post("/cases/required", key, "{}");
        Answer second = raw("/cases/required", "Content-Type: application/json", "Idempotency-Key: \"" + key + "\"");
        Answer third = raw("/cases/required", "Content-Type: application/json", "Idempotency-Key: \"" + key + "\";a=1");

        assertThat(second.replayed()).isTrue();
        assertThat(third.replayed()).isTrue();
    }

    /** Case 91. */
    @ParameterizedTest
    @ValueSource(ints = {1, 255})
    void takesAKeyOfAnyLengthUpTo255(int length) {
        String longKey = "k".repeat(length);
        server.post("/cases/required", longKey, "{}");

        assertThat(server.post("/cases/required", longKey, "{}").replayed()).isTrue();
    }

    /** Case 91. */
    @ParameterizedTest
    @ValueSource(ints = {256, 7000})
    void refusesALongerKeyAndNamesTheLimit(int length) throws IOException {
        Answer answer = raw("/cases/required", "Idempotency-Key: " + "k".repeat(length));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.problem()).isEqualTo("key-invalid");
        assertThat(answer.text()).contains("255").doesNotContain("kkkk");
    }

    /** Case 91. */
    @ParameterizedTest
    @ValueSource(strings = {"../", "{}", "a:b", "%0a", "*", "a\\b", "<b>", "'--", "a&b=c", "~!@#$^()"})
    void interpretsNoVisibleCharacterOfAKey(String characters) {
        String special = characters + key;
        Answer first = server.post("/cases/required", special, "{}");
        Answer second = server.post("/cases/required", special, "{}");

        assertThat(first.status()).isEqualTo(201);
        assertThat(second.replayed()).isTrue();
    }

    /** Case 91: Tomcat refuses control characters by itself. */
    @ParameterizedTest
    @ValueSource(strings = {"\u0001", "\u001f", "\u007f", "\u00e9", "\u00f0\u009f\u0098\u0080", "a b"})
    void refusesWhatIsNotVisibleAscii(String characters) throws IOException {
        Answer answer = raw("/cases/required", "Idempotency-Key: k" + characters + "k");

        assertThat(answer.status()).isEqualTo(400);
    }

    /** Case 92. */
    @Test
    void leavesSafeMethodsAlone() {
        server.post("/cases/required", key, "{}");
        Answer first = server.send("GET", "/cases/required", key, new byte[0]);
        Answer second = server.send("GET", "/cases/required", key, new byte[0]);
        Answer head = server.send("HEAD", "/cases/required", key, new byte[0]);
        Answer options = server.send("OPTIONS", "/cases/required", key, new byte[0]);

        assertThat(first.text()).isEqualTo("{\"n\":2}");
        assertThat(second.text()).isEqualTo("{\"n\":3}");
        assertThat(head.status()).isEqualTo(200);
        assertThat(options.status()).isEqualTo(200);
        for (Answer answer : new Answer[] {first, second, head, options}) {
            assertThat(answer.headers("Idempotent-Replayed")).isEmpty();
        }
    }

    /** Case 92: every other method of an annotated handler is protected. */
    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "PATCH", "DELETE"})
    void protectsEveryOtherMethod(String method) {
        byte[] body = method.equals("DELETE") ? new byte[0] : "x".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        server.send(method, "/cases/orders", key, body);
        Answer second = server.send(method, "/cases/orders", key, body);

        assertThat(second.replayed()).isTrue();
        assertThat(server.effects().of(key)).isEqualTo(1);
    }
}
