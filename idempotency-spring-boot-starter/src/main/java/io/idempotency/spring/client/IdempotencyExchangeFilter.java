package io.idempotency.spring.client;

import io.idempotency.IdempotencyContext;
import io.idempotency.spring.client.IdempotencyWebClientCustomizer.Delays;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientRequestException;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;

/** Sends one call until it has an answer. */
final class IdempotencyExchangeFilter implements ExchangeFilterFunction {

    private static final String CALL = Call.class.getName();

    private final CallKeys keys;
    private final @Nullable RequestId requestId;
    private final RetrySchedule schedule;
    private final Delays delays;

    IdempotencyExchangeFilter(CallKeys keys, @Nullable RequestId requestId, RetrySchedule schedule, Delays delays) {
        this.keys = keys;
        this.requestId = requestId;
        this.schedule = schedule;
        this.delays = delays;
    }

    // A subscription may be on any thread, and there may be several of one call.
    void begin(WebClient.RequestHeadersSpec<?> request) {
        request.attribute(CALL, new Call());
    }

    @Override
    public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
        Call call = request.attribute(CALL).map(Call.class::cast).orElseGet(Call::new);
        ClientRequest identified = withRequestId(request, call);
        if (identified.headers().getFirst(keys.header()) != null) {
            return untilAnswered(identified, next);
        }
        if (!keys.areFor(identified.method().name())) {
            return next.exchange(identified);
        }
        return untilAnswered(
                ClientRequest.from(identified)
                        .header(keys.header(), call.key(identified))
                        .build(),
                next);
    }

    private ClientRequest withRequestId(ClientRequest request, Call call) {
        if (requestId == null || call.requestIdHere == null || request.headers().getFirst(requestId.header()) != null) {
            return request;
        }
        return ClientRequest.from(request)
                .header(requestId.header(), call.requestIdHere)
                .build();
    }

    private Mono<ClientResponse> untilAnswered(ClientRequest request, ExchangeFunction next) {
        return Mono.defer(() -> {
            Attempts attempts = new Attempts(request, next);
            return attempts.one().repeatWhenEmpty(done -> done.concatMap(each -> delays.delay(attempts.pause)));
        });
    }

    /** Attempts of one subscription. */
    private final class Attempts {

        private final ClientRequest request;
        private final ExchangeFunction next;
        private final RetrySchedule.Call times = schedule.begin(delays.nanoTime());
        private Duration pause = Duration.ZERO;

        private Attempts(ClientRequest request, ExchangeFunction next) {
            this.request = request;
            this.next = next;
        }

        /** Empty: another one, after the pause. */
        private Mono<ClientResponse> one() {
            return Mono.defer(() -> next.exchange(request)).materialize().flatMap(this::judge);
        }

        private Mono<ClientResponse> judge(Signal<ClientResponse> outcome) {
            ClientResponse response = outcome.get();
            if (response != null) {
                return judge(response);
            }
            Throwable failure = outcome.getThrowable();
            return failure == null
                    ? Mono.error(new IllegalStateException("The HTTP client completed without an answer"))
                    : judge(failure);
        }

        private Mono<ClientResponse> judge(ClientResponse response) {
            Duration wanted = times.pauseAfter(
                    response.statusCode().value(),
                    response.headers().asHttpHeaders().getFirst(HttpHeaders.RETRY_AFTER),
                    delays.nanoTime());
            if (wanted == null) {
                return Mono.just(response);
            }
            pause = wanted;
            return response.releaseBody().onErrorComplete().then(Mono.empty());
        }

        private Mono<ClientResponse> judge(Throwable failure) {
            Duration wanted = isOfTheConnection(failure) ? times.pauseAfterFailure(delays.nanoTime()) : null;
            if (wanted == null) {
                return Mono.error(failure);
            }
            pause = wanted;
            return Mono.empty();
        }
    }

    // Every connector has exceptions of its own. Excepted is what a body says that cannot be sent twice, or at all.
    private static boolean isOfTheConnection(Throwable failure) {
        Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
        return failure instanceof WebClientRequestException
                && !(cause instanceof IllegalStateException)
                && !(cause instanceof IllegalArgumentException);
    }

    /** What is fixed where a call is made. */
    private final class Call {

        private final @Nullable IdempotencyContext context =
                IdempotencyContext.current().orElse(null);
        private final @Nullable String requestIdHere = requestId == null ? null : requestId.current();
        private @Nullable String key;

        private synchronized String key(ClientRequest request) {
            if (key == null) {
                key = keys.next(request.method().name(), request.url().toString(), context);
            }
            return key;
        }
    }
}
