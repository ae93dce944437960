package io.idempotency.test;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An idempotent endpoint of a running service, for {@link HttpConformanceContract}.
 *
 * @param endpoint address
 * @param method HTTP method
 * @param body a body that the service accepts; every call of the suite sends it with another key
 * @param otherBody another one that it accepts
 * @param contentType media type of both
 * @param headers further headers of each request, for example {@code Authorization}
 * @param otherCaller what is sent in place of them, or beside them, as another caller; empty where the service knows no callers
 * @since 0.1.0
 */
public record HttpTarget(
        URI endpoint,
        String method,
        String body,
        String otherBody,
        String contentType,
        Map<String, String> headers,
        Map<String, String> otherCaller) {

    public HttpTarget {
        headers = Map.copyOf(headers);
        otherCaller = Map.copyOf(otherCaller);
        if (body.equals(otherBody)) {
            throw new IllegalArgumentException("body and otherBody must differ");
        }
    }

    /** Without another caller. */
    public HttpTarget(
            URI endpoint,
            String method,
            String body,
            String otherBody,
            String contentType,
            Map<String, String> headers) {
        this(endpoint, method, body, otherBody, contentType, headers, Map.of());
    }

    /** A POST of JSON. */
    public static HttpTarget post(URI endpoint, String body, String otherBody) {
        return new HttpTarget(endpoint, "POST", body, otherBody, "application/json", Map.of());
    }

    /**
     * The same endpoint, called by two callers who both may use it.
     *
     * @param header what tells the service who calls, for example {@code Authorization}
     */
    public HttpTarget withCallers(String header, String caller, String other) {
        if (caller.equals(other)) {
            throw new IllegalArgumentException("The two callers must differ");
        }
        Map<String, String> all = new LinkedHashMap<>(headers);
        all.put(header, caller);
        return new HttpTarget(endpoint, method, body, otherBody, contentType, all, Map.of(header, other));
    }
}
