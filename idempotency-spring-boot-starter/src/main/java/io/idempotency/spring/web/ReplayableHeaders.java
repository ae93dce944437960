package io.idempotency.spring.web;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Which response headers are stored with a response and sent again with its replays. */
final class ReplayableHeaders {

    private static final List<String> USUAL =
            List.of("Content-Language", "Content-Disposition", "Location", "ETag", "Link");

    private static final Map<String, String> NEVER = reasons();

    private final Set<String> names;

    ReplayableHeaders(List<String> configured) {
        Set<String> all = new LinkedHashSet<>(USUAL);
        configured.stream()
                .filter(name -> all.stream().noneMatch(name::equalsIgnoreCase))
                .filter(name -> !name.equalsIgnoreCase("Content-Type"))
                .forEach(all::add);
        names = Set.copyOf(all);
    }

    /** The names, {@code Content-Type} excepted: that one is always kept. */
    Set<String> names() {
        return names;
    }

    /** Why a header must not be replayed; null if it may be. */
    static @Nullable String whyNever(String name, String replayedHeader) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (lower.equals(replayedHeader.toLowerCase(Locale.ROOT))) {
            return "it marks replays and is set by the library";
        }
        if (lower.startsWith("access-control-")) {
            return "CORS headers answer the current request";
        }
        if (lower.startsWith("x-b3-")) {
            return "it traces the current request";
        }
        return NEVER.get(name);
    }

    private static Map<String, String> reasons() {
        Map<String, String> reasons = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String name : List.of("Set-Cookie", "Set-Cookie2")) {
            reasons.put(name, "a cookie would hand one caller's session to another one, or bring an old one back");
        }
        for (String name : List.of(
                "WWW-Authenticate",
                "Authorization",
                "Authentication-Info",
                "Proxy-Authenticate",
                "Proxy-Authorization",
                "Proxy-Authentication-Info",
                "X-CSRF-TOKEN",
                "X-XSRF-TOKEN",
                "Clear-Site-Data")) {
            reasons.put(name, "it belongs to the authentication of one caller at one time");
        }
        for (String name : List.of(
                "Connection",
                "Keep-Alive",
                "Proxy-Connection",
                "TE",
                "Trailer",
                "Transfer-Encoding",
                "Upgrade",
                "Content-Length",
                "Content-Encoding",
                "Content-Range")) {
            reasons.put(name, "it describes one transfer, and the server sets it for each");
        }
        for (String name : List.of("Date", "Age", "Expires", "Retry-After", Answers.EXPIRES)) {
            reasons.put(name, "it is true only at the time of the first response");
        }
        for (String name : List.of("traceparent", "tracestate", "baggage", "b3", "X-Request-Id", "X-Correlation-Id")) {
            reasons.put(name, "it traces the current request");
        }
        return reasons;
    }
}
