package io.idempotency.spring.web;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** What a server has answered. Names of headers are in lower case. */
record Answer(int status, Map<String, List<String>> headers, byte[] body) {

    private static final ObjectMapper STRICT =
            new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    String header(String name) {
        List<String> values = headers(name);
        return values.isEmpty() ? null : values.get(0);
    }

    List<String> headers(String name) {
        return headers.getOrDefault(name.toLowerCase(java.util.Locale.ROOT), List.of());
    }

    boolean replayed() {
        return headers("Idempotent-Replayed").equals(List.of("true"));
    }

    JsonNode json() {
        try {
            return STRICT.readTree(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The code of a problem; null if this is none. */
    String problem() {
        return "application/problem+json".equals(header("Content-Type")) && json().has("code")
                ? json().get("code").asText()
                : null;
    }

    @Override
    public String toString() {
        return status + " " + headers + " " + text();
    }
}
