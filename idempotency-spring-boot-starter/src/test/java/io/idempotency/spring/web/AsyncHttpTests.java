package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.Idempotent;
import io.idempotency.StoreUnavailableException;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.AsyncRequestTimeoutException;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/** Case 112: what may go wrong while a response is made on other threads. */
class AsyncHttpTests {

    private static TestServer server;

    private final String key = TestServer.newKey();

    @BeforeAll
    static void start() {
        server = TestServer.start(Leased.class);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private Answer post(String path) {
        return server.post("/async/" + path, key, "{}");
    }

    private int effects() {
        return server.effects().of(key);
    }

    /** Case 112: the work may still be going on, so that its key is not free. */
    @ParameterizedTest
    @ValueSource(strings = {"timeout", "raw-timeout"})
    void holdsTheKeyOfWorkThatTimedOut(String path) {
        Answer first = post(path);
        Answer retry = post(path);

        assertThat(first.status()).isGreaterThanOrEqualTo(500);
        assertThat(retry.problem()).isEqualTo("in-progress");
        assertThat(effects()).isEqualTo(1);
    }

    /** Case 112: the policy may know better. */
    @Test
    void freesTheKeyOfATimeoutThatIsNamedHarmless() {
        assertThat(post("harmless-timeout").status()).isEqualTo(503);
        assertThat(post("harmless-timeout").status()).isEqualTo(503);
        assertThat(effects()).isEqualTo(2);
    }

    /** Case 112: what the application answers on a timeout is its answer. */
    @ParameterizedTest
    @ValueSource(strings = {"timeout-result", "raw-timeout-result"})
    void storesWhatIsAnsweredOnATimeout(String path) {
        Answer first = post(path);
        Answer retry = post(path);

        assertThat(first.status()).isEqualTo(202);
        assertThat(first.text()).isEqualTo("accepted");
        assertThat(retry.replayed()).isTrue();
        assertThat(retry.text()).isEqualTo("accepted");
        assertThat(effects()).isEqualTo(1);
    }

    /** Case 112: an error result is judged before an advice maps it. */
    @Test
    void storesAnErrorThatThePolicyWantsStored() {
        Answer first = post("stored-error");
        Answer retry = post("stored-error");

        assertThat(first.status()).isEqualTo(503);
        assertThat(first.text()).isEqualTo("no funds");
        assertThat(retry.status()).isEqualTo(503);
        assertThat(retry.text()).isEqualTo("no funds");
        assertThat(retry.replayed()).isTrue();
        assertThat(effects()).isEqualTo(1);
    }

    /** Case 112. */
    @Test
    void holdsAnErrorThatLeavesTheOutcomeOpen() {
        assertThat(post("ambiguous-error").status()).isEqualTo(500);
        assertThat(post("ambiguous-error").problem()).isEqualTo("in-progress");
    }

    /** Cases 112 and 114. */
    @Test
    void replaysAnAsynchronousSendError() {
        Answer first = post("not-found");
        Answer retry = post("not-found");

        assertThat(first.status()).isEqualTo(404);
        assertThat(retry.status()).isEqualTo(404);
        assertThat(retry.replayed()).isTrue();
        assertThat(retry.json().get("message")).isEqualTo(first.json().get("message"));
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void writesWithAListener() {
        Answer first = post("write-listener");
        Answer retry = post("write-listener");

        assertThat(first.text()).isEqualTo("written when ready");
        assertThat(retry.text()).isEqualTo("written when ready");
        assertThat(retry.replayed()).isTrue();
    }

    /** The fact is stored before the first byte; if it cannot be, no byte goes out and the key is not free. */
    @ParameterizedTest
    @ValueSource(strings = {"stream", "large"})
    void sendsNothingOfAStreamThatCannotBeRecorded(String path) throws Exception {
        HookedStore store = server.bean(HookedStore.class);
        Answer first;
        try (AutoCloseable failing =
                store.failing("complete", () -> new StoreUnavailableException("silent", new IOException()))) {
            first = post(path);
        }
        Answer retry = post(path);

        assertThat(first.status()).isEqualTo(503);
        assertThat(first.problem()).isEqualTo("store-unavailable");
        assertThat(retry.problem()).isEqualTo("in-progress");
        assertThat(effects()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"stream", "large"})
    void recordsAStreamOnceAndBeforeItIsSent(String path) {
        HookedStore store = server.bean(HookedStore.class);
        store.drain();

        Answer first = post(path);
        // Not what the engine does in the background for keys of other tests.
        List<String> calls = store.drain().stream()
                .filter(List.of("tryClaim", "complete")::contains)
                .toList();
        Answer retry = post(path);

        assertThat(first.status()).isEqualTo(200);
        assertThat(calls).containsExactly("tryClaim", "complete");
        assertThat(retry.problem()).isEqualTo("result-not-replayable");
        assertThat(retry.json().get("originalStatus").asInt()).isEqualTo(200);
    }

    /** The statuses that are not stored are not stored because they are long either. */
    @Test
    void releasesALargeRefusal() {
        Answer first = post("large-refusal");
        Answer retry = post("large-refusal");

        assertThat(first.status()).isEqualTo(503);
        assertThat(first.body()).hasSize(2 << 20);
        assertThat(retry.status()).isEqualTo(503);
        assertThat(effects()).isEqualTo(2);
    }

    @Test
    void answersAsynchronouslyWithoutProtectionWhereThatIsWanted() throws Exception {
        HookedStore store = server.bean(HookedStore.class);
        try (AutoCloseable failing =
                store.failing("tryClaim", () -> new StoreUnavailableException("silent", new IOException()))) {
            assertThat(post("proceeding").text()).isEqualTo("later");
        }
    }

    /** A key that was lost on the way: the winner's answer counts, also for a response that is made elsewhere. */
    @Test
    void answersWithTheWinnerAfterItLostItsKey() {
        Answer slow;
        CompletableFuture<Answer> first;
        try (Effects.Stop stop = server.effects().stop(key)) {
            first = server.postLater("/async/short-lease", key, "{}");
            stop.awaitArrival();
            slow = await().atMost(Duration.ofSeconds(60))
                    .until(() -> post("short-lease"), answer -> answer.status() == 200);
        }

        assertThat(slow.text()).isEqualTo("run 2");
        assertThat(first.join().text()).isEqualTo("run 2");
        assertThat(first.join().replayed()).isTrue();
    }

    /** The same for a stream, whose first byte comes after the key was lost. */
    @Test
    void sendsNoStreamAfterItLostItsKey() {
        CompletableFuture<Answer> first;
        try (Effects.Stop stop = server.effects().stop(key)) {
            first = server.postLater("/async/late-stream", key, "{}");
            stop.awaitArrival();
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> post("late-stream"), answer -> "run 2".equals(answer.text()));
        }

        assertThat(first.join().problem()).isEqualTo("result-not-replayable");
    }

    @Configuration(proxyBeanMethods = false)
    @Import({LibraryConfiguration.class, Servers.InMemory.class, Handlers.class})
    static class Leased {}

    static final class NoFunds extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @RestController
    @RequestMapping("/async")
    static class Handlers {

        private final Effects effects;

        Handlers(Effects effects) {
            this.effects = effects;
        }

        @PostMapping("/timeout")
        @Idempotent
        DeferredResult<String> timeout(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return new DeferredResult<>(50L);
        }

        @PostMapping("/harmless-timeout")
        @Idempotent(releaseFailures = AsyncRequestTimeoutException.class)
        DeferredResult<String> harmlessTimeout(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return new DeferredResult<>(50L);
        }

        @PostMapping("/timeout-result")
        @Idempotent
        DeferredResult<ResponseEntity<String>> timeoutResult(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return new DeferredResult<>(50L, ResponseEntity.accepted().body("accepted"));
        }

        @PostMapping("/raw-timeout")
        @Idempotent
        void rawTimeout(@RequestHeader("Idempotency-Key") String key, HttpServletRequest request) {
            effects.add(key);
            request.startAsync().setTimeout(50);
        }

        @PostMapping("/raw-timeout-result")
        @Idempotent
        void rawTimeoutResult(
                @RequestHeader("Idempotency-Key") String key, HttpServletRequest request, HttpServletResponse unused) {
            effects.add(key);
            AsyncContext context = request.startAsync();
            context.setTimeout(50);
            context.addListener(new Listener() {
                @Override
                public void onTimeout(AsyncEvent event) throws IOException {
                    HttpServletResponse response =
                            (HttpServletResponse) event.getAsyncContext().getResponse();
                    response.setStatus(202);
                    response.getWriter().write("accepted");
                    event.getAsyncContext().complete();
                }
            });
        }

        @PostMapping("/stored-error")
        @Idempotent(storeFailures = NoFunds.class)
        DeferredResult<String> storedError(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            DeferredResult<String> result = new DeferredResult<>();
            result.setErrorResult(new NoFunds());
            return result;
        }

        @ExceptionHandler
        ResponseEntity<String> handle(NoFunds failure) {
            return ResponseEntity.status(503).body("no funds");
        }

        @PostMapping("/ambiguous-error")
        @Idempotent
        CompletableFuture<String> ambiguousError() {
            return CompletableFuture.failedFuture(new TimeoutException());
        }

        @PostMapping("/not-found")
        @Idempotent
        CompletableFuture<String> notFound(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return CompletableFuture.failedFuture(new ResponseStatusException(HttpStatus.NOT_FOUND, "nowhere"));
        }

        @PostMapping("/write-listener")
        @Idempotent
        void writeListener(HttpServletRequest request, HttpServletResponse response) throws IOException {
            AsyncContext context = request.startAsync();
            ServletOutputStream out = response.getOutputStream();
            out.setWriteListener(new WriteListener() {
                @Override
                public void onWritePossible() throws IOException {
                    if (out.isReady()) {
                        out.write("written when ready".getBytes(StandardCharsets.UTF_8));
                    }
                    context.complete();
                }

                @Override
                public void onError(Throwable failure) {
                    context.complete();
                }
            });
        }

        @PostMapping("/stream")
        @Idempotent
        StreamingResponseBody stream(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return out -> out.write(new byte[100]);
        }

        @PostMapping("/large")
        @Idempotent
        byte[] large(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return new byte[2 << 20];
        }

        @PostMapping("/large-refusal")
        @Idempotent
        ResponseEntity<byte[]> largeRefusal(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return ResponseEntity.status(503).body(new byte[2 << 20]);
        }

        @PostMapping("/proceeding")
        @Idempotent(operation = "proceeding")
        CompletableFuture<String> proceeding() {
            return CompletableFuture.supplyAsync(() -> "later");
        }

        @PostMapping("/short-lease")
        @Idempotent(lease = "150ms", maxExecution = "1ms")
        CompletableFuture<String> shortLease(@RequestHeader("Idempotency-Key") String key) {
            int run = effects.add(key);
            return CompletableFuture.supplyAsync(() -> {
                effects.passStop(key);
                return "run " + run;
            });
        }

        @PostMapping("/late-stream")
        @Idempotent(lease = "150ms", maxExecution = "1ms")
        StreamingResponseBody lateStream(@RequestHeader("Idempotency-Key") String key) {
            int run = effects.add(key);
            return out -> {
                effects.passStop(key);
                out.write(("run " + run).getBytes(StandardCharsets.UTF_8));
            };
        }
    }

    private abstract static class Listener implements AsyncListener {

        @Override
        public void onComplete(AsyncEvent event) throws IOException {}

        @Override
        public void onError(AsyncEvent event) throws IOException {}

        @Override
        public void onStartAsync(AsyncEvent event) throws IOException {}
    }
}
