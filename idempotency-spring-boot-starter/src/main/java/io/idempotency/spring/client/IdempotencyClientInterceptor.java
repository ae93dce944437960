package io.idempotency.spring.client;

import io.idempotency.IdempotencyContext;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
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

    private final String header;
    private final Set<HttpMethod> methods;
    private final IdempotencyKeyGenerator keys;
    private final @Nullable ChildKeys childKeys;
    private final RetrySchedule schedule;
    private final Pauses pauses;
    private final @Nullable RequestId requestId;

    private IdempotencyClientInterceptor(Builder builder) {
        this.header = builder.header;
        this.methods = builder.methods;
        this.keys = builder.keys;
        this.childKeys = builder.childKeys ? new ChildKeys() : null;
        this.schedule = new RetrySchedule(builder.deadline);
        this.pauses = builder.pauses;
        this.requestId = builder.requestId;
    }

    /** With a header {@code Idempotency-Key} for POST and PATCH, keys of {@link IdempotencyKeyGenerator#uuidV7()}, 30 seconds. */
    public static Builder builder() {
        return new Builder();
    }

    /** Whether the answer is that of an earlier call under the same key. */
    public static boolean isReplayed(HttpHeaders answer) {
        return "true".equalsIgnoreCase(answer.getFirst("Idempotent-Replayed"));
    }

    @Override
    public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
            throws IOException {
        if (requestId != null) {
            requestId.addTo(request.getHeaders());
        }
        if (request.getHeaders().getFirst(header) == null) {
            if (!methods.contains(request.getMethod())) {
                return execution.execute(request, body);
            }
            request.getHeaders().set(header, keyFor(request));
        }
        return untilAnswered(request, body, execution);
    }

    private String keyFor(HttpRequest request) {
        return childKeys == null
                ? keys.nextKey()
                : IdempotencyContext.current()
                        .map(context -> childKeys.next(context, request.getMethod() + " " + request.getURI()))
                        .orElseGet(keys::nextKey);
    }

    private ClientHttpResponse untilAnswered(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
            throws IOException {
        RetrySchedule.Call call = schedule.begin(pauses.nanoTime());
        while (true) {
            Duration pause;
            try {
                ClientHttpResponse response = execution.execute(request, body);
                pause = call.pauseAfter(response.getStatusCode().value(), response.getHeaders(), pauses.nanoTime());
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

    /** What differs from one client to the next. */
    public static final class Builder {

        private String header = "Idempotency-Key";
        private Set<HttpMethod> methods = Set.of(HttpMethod.POST, HttpMethod.PATCH);
        private IdempotencyKeyGenerator keys = IdempotencyKeyGenerator.uuidV7();
        private boolean childKeys;
        private Duration deadline = Duration.ofSeconds(30);
        private Pauses pauses = Pauses.OF_THE_THREAD;
        private @Nullable RequestId requestId;

        private Builder() {}

        /** Under which name the key is sent. */
        public Builder header(String name) {
            this.header = name;
            return this;
        }

        /** Which methods get a key; a request that carries one already is sent again whatever its method is. */
        public Builder methods(HttpMethod... methods) {
            this.methods = Set.of(methods);
            return this;
        }

        public Builder keys(IdempotencyKeyGenerator keys) {
            this.keys = keys;
            return this;
        }

        /**
         * Inside of an idempotent action, derive the key from the action's: the same on every attempt of it. It also contains the
         * method, the address and the how-manieth such request of the attempt it is, so that an action may send the same one twice;
         * requests that are alike must then be sent in the same order by every attempt.
         */
        public Builder childKeys() {
            this.childKeys = true;
            return this;
        }

        /**
         * For how long a call is sent again, counted from its first attempt; zero: never. The last attempt begins before, and lasts
         * as long as the timeouts of the client let it.
         */
        public Builder deadline(Duration deadline) {
            if (deadline.isNegative()) {
                throw new IllegalArgumentException("The deadline of a client must not be negative: " + deadline);
            }
            this.deadline = deadline;
            return this;
        }

        /** Sends the id of the request that is being served, as the logging context has it, with every call. */
        public Builder requestId(String mdcKey, String header) {
            this.requestId = new RequestId(mdcKey, header);
            return this;
        }

        Builder pauses(Pauses pauses) {
            this.pauses = pauses;
            return this;
        }

        public IdempotencyClientInterceptor build() {
            return new IdempotencyClientInterceptor(this);
        }
    }

    private record RequestId(String mdcKey, String header) {

        void addTo(HttpHeaders headers) {
            String id = MDC.get(mdcKey);
            if (id != null && headers.getFirst(header) == null) {
                headers.set(header, id);
            }
        }
    }

    /** Time, for tests to run without it. */
    interface Pauses {

        Pauses OF_THE_THREAD = new Pauses() {
            @Override
            public long nanoTime() {
                return System.nanoTime();
            }

            @Override
            public void pause(Duration pause) throws IOException {
                try {
                    TimeUnit.NANOSECONDS.sleep(pause.toNanos());
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IOException("Interrupted before the call was sent again", e);
                }
            }
        };

        long nanoTime();

        void pause(Duration pause) throws IOException;
    }
}
