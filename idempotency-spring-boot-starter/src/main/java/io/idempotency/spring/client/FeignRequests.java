package io.idempotency.spring.client;

import feign.Request;
import feign.RequestTemplate;
import io.idempotency.IdempotencyContext;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is added to a request, on the thread that makes the call. */
final class FeignRequests {

    private final CallKeys keys;
    private final @Nullable RequestId requestId;

    FeignRequests(CallKeys keys, @Nullable RequestId requestId) {
        this.keys = keys;
        this.requestId = requestId;
    }

    /** Whether the request may be sent again. */
    boolean haveKey(Request request) {
        return FeignHeaders.first(request.headers(), keys.header()).isPresent();
    }

    Request identify(Request request) {
        Request identified = withRequestId(request);
        return haveKey(identified) || !keys.areFor(identified.httpMethod().name())
                ? identified
                : withHeader(identified, keys.header(), keyFor(identified));
    }

    private String keyFor(Request request) {
        return keys.next(
                request.httpMethod().name(),
                request.url(),
                IdempotencyContext.current().orElse(null));
    }

    private Request withRequestId(Request request) {
        String id = requestId == null ? null : requestId.current();
        return requestId == null
                        || id == null
                        || FeignHeaders.first(request.headers(), requestId.header())
                                .isPresent()
                ? request
                : withHeader(request, requestId.header(), id);
    }

    // In the template as well: Feign's own retries make the next request of it, those of AsyncFeign on another thread.
    private static Request withHeader(Request request, String name, String value) {
        RequestTemplate template = request.requestTemplate();
        if (template != null) {
            template.headerLiteral(name, value);
        }
        Map<String, Collection<String>> headers = new LinkedHashMap<>(request.headers());
        headers.put(name, List.of(value));
        return Request.create(
                request.httpMethod(), request.url(), headers, request.body(), request.charset(), template);
    }
}
