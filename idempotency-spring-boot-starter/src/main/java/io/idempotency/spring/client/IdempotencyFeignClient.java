package io.idempotency.spring.client;

import feign.Client;
import feign.Request;
import feign.RequestTemplate;
import feign.Response;
import io.idempotency.IdempotencyContext;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Sends one call until it has an answer. */
final class IdempotencyFeignClient implements Client {

    private final Client client;
    private final CallKeys keys;
    private final @Nullable RequestId requestId;
    private final RetrySchedule schedule;
    private final Pauses pauses;

    IdempotencyFeignClient(
            Client client, CallKeys keys, @Nullable RequestId requestId, RetrySchedule schedule, Pauses pauses) {
        this.client = client;
        this.keys = keys;
        this.requestId = requestId;
        this.schedule = schedule;
        this.pauses = pauses;
    }

    @Override
    public Response execute(Request request, Request.Options options) throws IOException {
        Request identified = withRequestId(request);
        if (FeignHeaders.first(identified.headers(), keys.header()).isPresent()) {
            return untilAnswered(identified, options);
        }
        if (!keys.areFor(identified.httpMethod().name())) {
            return client.execute(identified, options);
        }
        return untilAnswered(withHeader(identified, keys.header(), keyFor(identified)), options);
    }

    // In the template as well: Feign's own retries make the next request of it.
    private String keyFor(Request request) {
        String key = keys.next(
                request.httpMethod().name(),
                request.url(),
                IdempotencyContext.current().orElse(null));
        RequestTemplate template = request.requestTemplate();
        if (template != null) {
            template.header(keys.header(), key);
        }
        return key;
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

    private static Request withHeader(Request request, String name, String value) {
        Map<String, Collection<String>> headers = new LinkedHashMap<>(request.headers());
        headers.put(name, List.of(value));
        return Request.create(
                request.httpMethod(),
                request.url(),
                headers,
                request.body(),
                request.charset(),
                request.requestTemplate());
    }

    private Response untilAnswered(Request request, Request.Options options) throws IOException {
        RetrySchedule.Call call = schedule.begin(pauses.nanoTime());
        while (true) {
            Duration pause;
            try {
                Response response = client.execute(request, options);
                pause = call.pauseAfter(
                        response.status(),
                        FeignHeaders.first(response.headers(), "Retry-After").orElse(null),
                        pauses.nanoTime());
                if (pause == null) {
                    return response;
                }
                response.close();
            } catch (IOException failure) {
                pause = call.pauseAfterFailure(pauses.nanoTime());
                if (pause == null) {
                    throw failure;
                }
            }
            pauses.pause(pause);
        }
    }
}
