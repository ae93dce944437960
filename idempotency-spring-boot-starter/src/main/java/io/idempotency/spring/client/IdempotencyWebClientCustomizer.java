package io.idempotency.spring.client;

import java.time.Duration;
import java.util.function.Consumer;
import org.springframework.http.HttpHeaders;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;

/**
 * Gives every call of a {@code WebClient} one key, and sends it again under that key until it has an answer: after 409 with
 * {@code Retry-After} (the first one still runs), after 503, and after a connection that failed. Whatever else comes back is the
 * answer. At the deadline the last answer or failure is that of the call. For {@code WebClient.Builder.apply}.
 *
 * <p>A call begins where it is made, on the thread that names its method ({@code client.post()}); there its key, its
 * {@link io.idempotency.IdempotencyContext} and its request id are found. Its {@code Mono} is that one call, however often it is
 * subscribed to: {@code retry} and {@code repeat} send the same key. No thread waits between two attempts.
 *
 * <p>A request that carries a key keeps it. A body that can be read only once cannot be sent again: its failure is that of the call.
 *
 * @since 0.1.0
 */
public final class IdempotencyWebClientCustomizer implements Consumer<WebClient.Builder> {

    private final IdempotencyExchangeFilter filter;

    private IdempotencyWebClientCustomizer(IdempotencyExchangeFilter filter) {
        this.filter = filter;
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
    public void accept(WebClient.Builder client) {
        client.defaultRequest(filter::begin).filter(filter);
    }

    /** What differs from one client to the next. */
    public static final class Builder extends SpringClientBuilder<Builder> {

        private Delays delays = Delays.OF_REACTOR;

        private Builder() {}

        Builder delays(Delays delays) {
            this.delays = delays;
            return this;
        }

        public IdempotencyWebClientCustomizer build() {
            return new IdempotencyWebClientCustomizer(
                    new IdempotencyExchangeFilter(callKeys(), requestId(), schedule(), delays));
        }
    }

    /** Time, for tests to run without it. */
    interface Delays {

        Delays OF_REACTOR = new Delays() {
            @Override
            public long nanoTime() {
                return System.nanoTime();
            }

            @Override
            public Mono<Long> delay(Duration delay) {
                return Mono.delay(delay);
            }
        };

        long nanoTime();

        /** Emits when the time has passed. */
        Mono<Long> delay(Duration delay);
    }
}
