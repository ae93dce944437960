package io.idempotency.spring.client;

import feign.Client;
import feign.Request;
import feign.Response;
import java.io.IOException;
import java.time.Duration;

/** Sends one call until it has an answer. */
final class IdempotencyFeignClient implements Client {

    private final Client client;
    private final FeignRequests requests;
    private final RetrySchedule schedule;
    private final Pauses pauses;

    IdempotencyFeignClient(Client client, FeignRequests requests, RetrySchedule schedule, Pauses pauses) {
        this.client = client;
        this.requests = requests;
        this.schedule = schedule;
        this.pauses = pauses;
    }

    @Override
    public Response execute(Request request, Request.Options options) throws IOException {
        Request identified = requests.identify(request);
        return requests.haveKey(identified) ? untilAnswered(identified, options) : client.execute(identified, options);
    }

    private Response untilAnswered(Request request, Request.Options options) throws IOException {
        RetrySchedule.Call call = schedule.begin(pauses.nanoTime());
        while (true) {
            Duration pause;
            try {
                Response response = client.execute(request, options);
                pause = call.pauseAfter(response.status(), FeignHeaders.retryAfter(response), pauses.nanoTime());
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
