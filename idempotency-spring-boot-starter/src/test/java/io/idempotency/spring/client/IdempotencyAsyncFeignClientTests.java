package io.idempotency.spring.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import feign.AsyncClient;
import feign.AsyncFeign;
import feign.HeaderMap;
import feign.Request.HttpMethod;
import feign.RequestLine;
import feign.Response;
import feign.RetryableException;
import feign.Retryer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

class IdempotencyAsyncFeignClientTests extends ClientContract<IdempotencyFeignCapability.Builder> {

    interface Payments {

        @RequestLine("POST /payments")
        CompletableFuture<Response> pay(String payment);

        @RequestLine("POST /payments")
        CompletableFuture<Void> payOrFail(String payment);

        @RequestLine("PUT /payments")
        CompletableFuture<Response> put(@HeaderMap Map<String, Object> headers);

        @RequestLine("GET /payments")
        CompletableFuture<Response> read();
    }

    @Override
    IdempotencyFeignCapability.Builder builder() {
        return IdempotencyFeignCapability.builder().pauses(watch);
    }

    @Override
    IdempotencyFeignCapability.Builder withKeysForPut(IdempotencyFeignCapability.Builder capability) {
        return capability.methods(HttpMethod.PUT);
    }

    @Override
    Client client(IdempotencyFeignCapability.Builder capability) {
        return new OverAsyncFeign(payments(AsyncFeign.builder(), capability));
    }

    private Payments payments(AsyncFeign.AsyncBuilder<Object> builder, IdempotencyFeignCapability.Builder capability) {
        return builder.retryer(Retryer.NEVER_RETRY)
                .addCapability(capability.build())
                .target(Payments.class, uri.resolve("/").toString());
    }

    @Override
    Class<RetryableException> failure() {
        return RetryableException.class;
    }

    private record OverAsyncFeign(Payments client) implements Client {

        @Override
        public Received post() {
            return received(client.pay("pay"));
        }

        @Override
        public Received put(String header, String value) {
            return received(client.put(Map.of(header, value)));
        }

        @Override
        public Received get() {
            return received(client.read());
        }

        private static Received received(CompletableFuture<Response> call) {
            Response answer = await(call);
            return new Received(answer.status(), IdempotencyFeignCapability.isReplayed(answer));
        }
    }

    private static <T> T await(CompletableFuture<T> call) {
        try {
            return call.get(30, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw (RuntimeException) e.getCause();
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    // With nobody's help: the pauses are real, and short.
    @Test
    void waitsByItself() {
        script(new Answer(503), new Answer(503), new Answer(409, "Retry-After", "0"), new Answer(201));

        assertThat(client(builder().pauses(Pauses.OF_THE_SYSTEM)).post().status())
                .isEqualTo(201);
        assertThat(keys).hasSize(4);
    }

    // A client of one thread: while one call waits to be sent again, the next one is answered.
    @Test
    void noThreadWaitsBetweenTwoAttempts() throws Exception {
        Later later = new Later();
        script(new Answer(503), new Answer(200), new Answer(201));
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Payments client = payments(clientOn(thread), builder().pauses(later));

            CompletableFuture<Response> first = client.pay("first");
            Runnable next = later.next();
            assertThat(await(client.pay("second")).status()).isEqualTo(200);
            assertThat(first).isNotDone();
            next.run();

            assertThat(await(first).status()).isEqualTo(201);
            assertThat(bodies).containsExactly("first", "second", "first");
            assertThat(keys.get(2)).isEqualTo(keys.get(0)).isNotEqualTo(keys.get(1));
        } finally {
            thread.shutdownNow();
        }
    }

    private static AsyncFeign.AsyncBuilder<Object> clientOn(ExecutorService threads) {
        return AsyncFeign.builder().client(new AsyncClient.Default<>(new feign.Client.Default(null, null), threads));
    }

    // They are made on other threads, and know nothing of the one that made the call but what its first request had.
    @Test
    void theRetriesOfFeignAreTheSameCall() {
        script(new Answer(500), new Answer(502), new Answer(201));
        Payments client = AsyncFeign.builder()
                .retryer(new Retryer.Default(1, 1, 5))
                .errorDecoder((method, answer) -> new RetryableException(
                        answer.status(), "again", answer.request().httpMethod(), (Long) null, answer.request()))
                .addCapability(builder().requestId("requestId", "X-Request-Id").build())
                .target(Payments.class, uri.resolve("/").toString());

        try (MDC.MDCCloseable ignored = MDC.putCloseable("requestId", "r-1")) {
            await(client.payOrFail("pay"));
        }
        await(client.payOrFail("pay"));

        assertThat(keys).hasSize(4);
        assertThat(keys.subList(0, 3).stream().distinct()).hasSize(1);
        assertThat(keys.get(3)).isNotEqualTo(keys.get(0));
        assertThat(requestIds).containsExactly("r-1", "r-1", "r-1", null);
    }

    // A call whose client has no thread for its next attempt must not wait for ever.
    @Test
    void aClientThatRefusesFailsTheCall() throws Exception {
        Later later = new Later();
        script(new Answer(503));
        ExecutorService thread = Executors.newSingleThreadExecutor();
        CompletableFuture<Response> call =
                payments(clientOn(thread), builder().pauses(later)).pay("pay");
        Runnable next = later.next();
        thread.shutdownNow();

        next.run();

        assertThatThrownBy(() -> await(call)).isInstanceOf(RejectedExecutionException.class);
    }

    /** Pauses that last until the test ends them. */
    private static final class Later implements Pauses {

        private final BlockingQueue<Runnable> waiting = new LinkedBlockingQueue<>();

        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public void pause(Duration pause) {
            throw new AssertionError("blocks");
        }

        @Override
        public Executor after(Duration pause) {
            return waiting::add;
        }

        Runnable next() throws InterruptedException {
            Runnable next = waiting.poll(30, TimeUnit.SECONDS);
            assertThat(next).isNotNull();
            return next;
        }
    }
}
