package io.idempotency.spring.client;

import feign.Response;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

final class FeignHeaders {

    private FeignHeaders() {}

    // Requests keep the case in which their headers were written.
    static Optional<String> first(Map<String, Collection<String>> headers, String name) {
        return headers.entrySet().stream()
                .filter(header -> header.getKey().equalsIgnoreCase(name))
                .flatMap(header -> header.getValue().stream())
                .findFirst();
    }

    static @Nullable String retryAfter(Response response) {
        return first(response.headers(), "Retry-After").orElse(null);
    }
}
