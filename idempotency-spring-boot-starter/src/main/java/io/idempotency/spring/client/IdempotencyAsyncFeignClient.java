package io.idempotency.spring.client;

import feign.AsyncClient;
import feign.Request;
import feign.Response;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Sends one call until it has an answer. No thread waits between two attempts. */
final class IdempotencyAsyncFeignClient implements AsyncClient<Object> {

    private final AsyncClient<Object> client;
    private final FeignRequests requests;
    private final RetrySchedule schedule;
    private final Pauses pauses;

    IdempotencyAsyncFeignClient(
            AsyncClient<Object> client, FeignRequests requests, RetrySchedule schedule, Pauses pauses) {
        this.client = client;
        this.requests = requests;
        this.schedule = schedule;
        this.pauses = pauses;
    }

    @Override
    public CompletableFuture<Response> execute(Request request, Request.Options options, Optional<Object> context) {
        Request identified = requests.identify(request);
        if (!requests.haveKey(identified)) {
            return client.execute(identified, options, context);
        }
        Attempts attempts = new Attempts(() -> client.execute(identified, options, context));
        attempts.next();
        return attempts.answer;
    }

    private interface Attempt {
        CompletableFuture<Response> begin();
    }

    private final class Attempts {

        private final Attempt attempt;
        private final RetrySchedule.Call times = schedule.begin(pauses.nanoTime());
        private final CompletableFuture<Response> answer = new CompletableFuture<>();

        private Attempts(Attempt attempt) {
            this.attempt = attempt;
        }

        private void next() {
            orFail(() -> attempt.begin().whenComplete((response, failure) -> orFail(() -> judge(response, failure))));
        }

        // Whatever goes wrong, the caller hears of it.
        private void orFail(Runnable part) {
            try {
                part.run();
            } catch (RuntimeException | Error failure) {
                answer.completeExceptionally(failure);
            }
        }

        private void judge(Response response, @Nullable Throwable failure) {
            if (failure == null) {
                judge(response);
            } else {
                judge(causeOf(failure));
            }
        }

        private void judge(Response response) {
            Duration pause = times.pauseAfter(response.status(), FeignHeaders.retryAfter(response), pauses.nanoTime());
            if (pause == null) {
                answer.complete(response);
            } else {
                response.close();
                nextAfter(pause);
            }
        }

        private void judge(Throwable failure) {
            Duration pause = failure instanceof IOException ? times.pauseAfterFailure(pauses.nanoTime()) : null;
            if (pause == null) {
                answer.completeExceptionally(failure);
            } else {
                nextAfter(pause);
            }
        }

        private void nextAfter(Duration pause) {
            pauses.after(pause).execute(this::next);
        }
    }

    // Stages of a client wrap what an earlier one has thrown.
    private static Throwable causeOf(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? cause : failure;
    }
}
