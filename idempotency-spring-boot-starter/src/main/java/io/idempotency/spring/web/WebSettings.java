package io.idempotency.spring.web;

import java.util.List;
import org.springframework.util.unit.DataSize;

/**
 * How HTTP requests are protected, whatever their operation.
 *
 * @param header name of the request header that carries the key
 * @param maxRequestSize largest request body; a larger one is refused
 * @param maxResponseSize largest response body that is stored; of a larger one only the fact is kept
 * @param maxSpillSize largest response body that is held back, in a temporary file beyond {@code maxResponseSize}
 * @param anonymous what happens to callers that are not authenticated
 * @param replayedHeader name of the response header that marks a replay
 * @param replayHeaders response headers that are stored and replayed besides the usual ones
 * @param problemTypeBase what the type of a problem begins with; its code follows
 * @since 0.1.0
 */
public record WebSettings(
        String header,
        DataSize maxRequestSize,
        DataSize maxResponseSize,
        DataSize maxSpillSize,
        AnonymousCallers anonymous,
        String replayedHeader,
        List<String> replayHeaders,
        String problemTypeBase) {

    public WebSettings {
        replayHeaders = List.copyOf(replayHeaders);
        replayHeaders.forEach(name -> {
            String reason = ReplayableHeaders.whyNever(name, replayedHeader);
            if (reason != null) {
                throw new IllegalArgumentException("The header " + name + " cannot be replayed: " + reason);
            }
        });
    }

    /** The settings of an application that configures nothing. */
    public static WebSettings defaults() {
        return new WebSettings(
                "Idempotency-Key",
                DataSize.ofMegabytes(1),
                DataSize.ofMegabytes(1),
                DataSize.ofMegabytes(64),
                AnonymousCallers.SHARE,
                "Idempotent-Replayed",
                List.of(),
                "urn:idempotency:");
    }

    /** What happens to callers that are not authenticated. */
    public enum AnonymousCallers {
        /** They are refused as {@code caller-unknown}. */
        REFUSE,
        /** All of them share one key space. */
        SHARE
    }
}
