package io.idempotency.spring.client;

import io.idempotency.IdempotencyContext;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Gives every call of a {@code RestClient} or {@code RestTemplate} one key, and sends it again under that key until it has an answer:
 * after 409 with {@code Retry-After} (the first one still runs), after 503, and after a connection that failed. Whatever else comes
 * back is the answer. At the deadline the last answer or failure is that of the call.
 *
 * <p>A request that carries a key keeps it. Inside of an idempotent action, the key can be a child of the action's own
 * ({@link Builder#childKeys()}), so that a later attempt of the action repeats the same call and not another one.
 *
 * <p>Add it as the last interceptor: those behind it may see the first attempt only.
 *
 * @since 0.1.0
 */
public final class IdempotencyClientInterceptor implements ClientHttpRequestInterceptor {

    private final CallKeys keys;
    private final BlockingRetries retries;
    private final @Nullable RequestId requestId;

    private IdempotencyClientInterceptor(Builder builder) {
        this.keys = builder.callKeys();
        this.retries = new BlockingRetries(builder.schedule(), builder.pauses);
        this.requestId = builder.requestId();
    }

    /** With a header {@code Idempotency-Key} for POST and PATCH, keys of {@link IdempotencyKeyGenerator#uuidV7()}, 30 seconds. */
    public static Builder builder() {
        return new Builder();
    }

    /** Whether the answer is that of an earlier call under the same key. */
    public static boolean isReplayed(HttpHeaders answer) {
        return Replays.isMarkedBy(answer.getFirst(Replays.HEADER));
    }

    @Override
    public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
            throws IOException {
        addRequestId(request.getHeaders());
        if (request.getHeaders().getFirst(keys.header()) == null) {
            if (!keys.areFor(request.getMethod().name())) {
                return execution.execute(request, body);
            }
            request.getHeaders().set(keys.header(), keyFor(request));
        }
        return untilAnswered(request, body, execution);
    }

    private void addRequestId(HttpHeaders headers) {
        String id = requestId == null ? null : requestId.current();
        if (requestId != null && id != null && headers.getFirst(requestId.header()) == null) {
            headers.set(requestId.header(), id);
        }
    }

    private String keyFor(HttpRequest request) {
        return keys.next(
                request.getMethod().name(),
                request.getURI().toString(),
                IdempotencyContext.current().orElse(null));
    }

    private ClientHttpResponse untilAnswered(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
            throws IOException {
        return retries.untilAnswered(() -> {
            ClientHttpResponse response = execution.execute(request, body);
            return new BlockingRetries.Answer<>(
                    response,
                    response.getStatusCode().value(),
                    response.getHeaders().getFirst(HttpHeaders.RETRY_AFTER));
        });
    }

    /** What differs from one client to the next. */
    public static final class Builder extends SpringClientBuilder<Builder> {

        private Pauses pauses = Pauses.OF_THE_SYSTEM;

        private Builder() {}

        Builder pauses(Pauses pauses) {
            this.pauses = pauses;
            return this;
        }

        public IdempotencyClientInterceptor build() {
            return new IdempotencyClientInterceptor(this);
        }
    }
}
