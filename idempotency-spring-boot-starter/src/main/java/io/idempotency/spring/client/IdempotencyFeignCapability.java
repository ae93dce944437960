package io.idempotency.spring.client;

import feign.AsyncClient;
import feign.Capability;
import feign.Client;
import feign.Request.HttpMethod;
import feign.Response;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Gives every call of a Feign client one key, and sends it again under that key until it has an answer: after 409 with
 * {@code Retry-After} (the first one still runs), after 503, and after a connection that failed. Whatever else comes back is the
 * answer. At the deadline the last answer or failure is that of the call. For {@code addCapability} of a builder of {@code Feign} or
 * {@code AsyncFeign}, or as a bean where Spring Cloud OpenFeign makes the clients.
 *
 * <p>Attempts of Feign's own {@code Retryer} are the same call: they send the same key, each with a deadline of its own. A request that
 * carries a key keeps it.
 *
 * <p>A client of {@code AsyncFeign} finds the {@link io.idempotency.IdempotencyContext} and the request id of a call on the thread that
 * calls its method. No thread waits between two attempts.
 *
 * @since 0.1.0
 */
public final class IdempotencyFeignCapability implements Capability {

    private final Builder settings;

    private IdempotencyFeignCapability(Builder settings) {
        this.settings = settings;
    }

    /** With a header {@code Idempotency-Key} for POST and PATCH, keys of {@link IdempotencyKeyGenerator#uuidV7()}, 30 seconds. */
    public static Builder builder() {
        return new Builder();
    }

    /** Whether the answer is that of an earlier call under the same key. */
    public static boolean isReplayed(Response answer) {
        return FeignHeaders.first(answer.headers(), Replays.HEADER)
                .filter(Replays::isMarkedBy)
                .isPresent();
    }

    @Override
    public Client enrich(Client client) {
        return new IdempotencyFeignClient(
                client, requests(), new BlockingRetries(settings.schedule(), settings.pauses));
    }

    @Override
    public AsyncClient<Object> enrich(AsyncClient<Object> client) {
        return new IdempotencyAsyncFeignClient(client, requests(), settings.schedule(), settings.pauses);
    }

    private FeignRequests requests() {
        return new FeignRequests(settings.callKeys(), settings.requestId());
    }

    /** What differs from one client to the next. */
    public static final class Builder extends ClientBuilder<Builder> {

        private Pauses pauses = Pauses.OF_THE_SYSTEM;

        private Builder() {}

        /** Which methods get a key; a request that carries one already is sent again whatever its method is. */
        public Builder methods(HttpMethod... methods) {
            return methods(Arrays.stream(methods).map(HttpMethod::name).collect(Collectors.toUnmodifiableSet()));
        }

        Builder pauses(Pauses pauses) {
            this.pauses = pauses;
            return this;
        }

        public IdempotencyFeignCapability build() {
            return new IdempotencyFeignCapability(this);
        }
    }
}
