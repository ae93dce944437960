package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WebSettingsTests {

    private static WebSettings with(String header) {
        return new TestWebSettings().replayHeaders(header).build();
    }

    /** Case 126. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Set-Cookie",
                "set-cookie",
                "Set-Cookie2",
                "WWW-Authenticate",
                "Authorization",
                "Authentication-Info",
                "Proxy-Authenticate",
                "Proxy-Authorization",
                "Proxy-Authentication-Info",
                "X-CSRF-TOKEN",
                "X-XSRF-TOKEN",
                "Clear-Site-Data",
                "Connection",
                "Keep-Alive",
                "Proxy-Connection",
                "TE",
                "Trailer",
                "Transfer-Encoding",
                "Upgrade",
                "Content-Length",
                "Content-Encoding",
                "Content-Range",
                "Access-Control-Allow-Origin",
                "Date",
                "Age",
                "Expires",
                "Retry-After",
                "Idempotency-Expires",
                "traceparent",
                "tracestate",
                "baggage",
                "b3",
                "X-B3-TraceId",
                "X-Request-Id",
                "X-Correlation-Id",
                "Idempotent-Replayed"
            })
    void refusesHeadersThatMustNotBeReplayed(String header) {
        assertThatThrownBy(() -> with(header))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(header)
                .hasMessageMatching(".*cannot be replayed: .{10,}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"X-Order-Id", "Cache-Control", "Last-Modified", "link"})
    void takesOthers(String header) {
        assertThat(new ReplayableHeaders(with(header).replayHeaders()).names())
                .anyMatch(header::equalsIgnoreCase)
                .hasSize(header.equals("link") ? 5 : 6);
    }
}
