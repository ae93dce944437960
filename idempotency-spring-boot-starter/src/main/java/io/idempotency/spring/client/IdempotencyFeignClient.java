package io.idempotency.spring.client;

import feign.Client;
import feign.Request;
import feign.Response;
import java.io.IOException;

/** Sends one call until it has an answer. */
final class IdempotencyFeignClient implements Client {

    private final Client client;
    private final FeignRequests requests;
    private final BlockingRetries retries;

    IdempotencyFeignClient(Client client, FeignRequests requests, BlockingRetries retries) {
        this.client = client;
        this.requests = requests;
        this.retries = retries;
    }

    @Override
    public Response execute(Request request, Request.Options options) throws IOException {
        Request identified = requests.identify(request);
        return requests.haveKey(identified) ? untilAnswered(identified, options) : client.execute(identified, options);
    }

    private Response untilAnswered(Request request, Request.Options options) throws IOException {
        return retries.untilAnswered(() -> {
            Response response = client.execute(request, options);
            return new BlockingRetries.Answer<>(response, response.status(), FeignHeaders.retryAfter(response));
        });
    }
}
