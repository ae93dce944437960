package io.idempotency.test;

import java.net.URI;
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
 * @since 0.1.0
 */
public record HttpTarget(
        URI endpoint, String method, String body, String otherBody, String contentType, Map<String, String> headers) {

    public HttpTarget {
        headers = Map.copyOf(headers);
        if (body.equals(otherBody)) {
            throw new IllegalArgumentException("body and otherBody must differ");
        }
    }

    /** A POST of JSON. */
    public static HttpTarget post(URI endpoint, String body, String otherBody) {
        return new HttpTarget(endpoint, "POST", body, otherBody, "application/json", Map.of());
    }
}
