package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spring.web.StoredResponse.Form;
import io.idempotency.spring.web.StoredResponse.Header;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** While a deployment rolls, one version answers with the responses that another has stored. */
class StoredResponseFormsTests {

    private static final Map<String, byte[]> KEPT = kept();

    private static Map<String, byte[]> kept() {
        try (InputStream in = StoredResponseFormsTests.class.getResourceAsStream("responses-1.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split(" = "))
                    .collect(Collectors.toMap(
                            line -> line[0], line -> HexFormat.of().parseHex(line[1])));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Arguments form(String name, Function<StoredResponse, StoredResult> stored, StoredResponse response) {
        return Arguments.of(name, stored, response);
    }

    private static StoredResponse plain(int status, @Nullable String contentType, String body, Header... headers) {
        return new StoredResponse(
                Form.PLAIN, status, null, contentType, List.of(headers), body.getBytes(StandardCharsets.UTF_8));
    }

    static Stream<Arguments> forms() {
        return Stream.of(
                form(
                        "created",
                        StoredResponse::asValue,
                        plain(
                                201,
                                "application/json",
                                "{\"id\":1,\"name\":\"Zo\u00eb\"}",
                                new Header("Location", "/payments/1"),
                                new Header("ETag", "\"1\""))),
                form(
                        "one header twice",
                        StoredResponse::asValue,
                        plain(
                                200,
                                "text/plain;charset=UTF-8",
                                "body",
                                new Header("Link", "</a>; rel=\"next\""),
                                new Header("Link", "</b>; rel=\"prev\""))),
                form("no content", StoredResponse::asValue, plain(204, null, "")),
                form("refusal", StoredResponse::asValue, plain(402, "application/problem+json", "{\"status\":402}")),
                form(
                        "error of the container",
                        StoredResponse::asValue,
                        new StoredResponse(Form.ERROR, 422, "no such account", null, List.of(), new byte[0])),
                form(
                        "error without a message",
                        StoredResponse::asValue,
                        new StoredResponse(Form.ERROR, 404, null, null, List.of(), new byte[0])),
                form(
                        "redirect",
                        StoredResponse::asValue,
                        new StoredResponse(Form.REDIRECT, 302, "/payments/1", null, List.of(), new byte[0])),
                form(
                        "only the fact",
                        StoredResponse::asNotReplayable,
                        plain(200, "application/pdf", "", new Header("Location", "/receipts/1"))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("forms")
    void isWrittenAsEver(String name, Function<StoredResponse, StoredResult> stored, StoredResponse response) {
        assertThat(HexFormat.of().formatHex(stored.apply(response).toBytes()))
                .isEqualTo(HexFormat.of().formatHex(KEPT.get(name)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("forms")
    void isReadAsEver(String name, Function<StoredResponse, StoredResult> stored, StoredResponse response) {
        StoredResult kept = StoredResult.fromBytes(KEPT.get(name));

        assertThat(kept.kind()).isEqualTo(stored.apply(response).kind());
        assertThat(StoredResponse.read(kept)).usingRecursiveComparison().isEqualTo(response);
    }

    // Under another id the record of the version before would not be found, and the call would run again.
    @Test
    void idOfARequestIsAsEver() {
        assertThat(RecordId.of("pay", HttpScope.of(null, "", "POST", "/payments"), "k-1")
                        .bytes())
                .isEqualTo(KEPT.get("record id of an anonymous caller"));
        assertThat(RecordId.of("pay", HttpScope.of("alice", "acme", "POST", "/payments/1"), "k-1")
                        .bytes())
                .isEqualTo(KEPT.get("record id of alice at acme"));
    }
}
