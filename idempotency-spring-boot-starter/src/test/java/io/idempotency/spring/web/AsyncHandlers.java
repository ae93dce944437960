package io.idempotency.spring.web;

import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
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

/** Handlers whose responses are made on other threads, with what may go wrong there. */
@RestController
@RequestMapping("/async")
class AsyncHandlers {

    private final Effects effects;

    AsyncHandlers(Effects effects) {
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

    /** Held as long as its lease lasts, which nobody renews any more. */
    @PostMapping("/abandoned")
    @Idempotent(lease = "300ms")
    void abandoned(@RequestHeader("Idempotency-Key") String key, HttpServletRequest request) {
        if (effects.add(key) == 1) {
            request.startAsync().setTimeout(50);
        }
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

    @PostMapping("/failing-callable")
    @Idempotent(guarantee = Guarantee.AT_MOST_ONCE)
    Callable<String> failingCallable(@RequestHeader("Idempotency-Key") String key) {
        return () -> {
            throw broken(key);
        };
    }

    @PostMapping("/stored-callable")
    @Idempotent(storeFailures = IllegalStateException.class)
    Callable<String> storedCallable(@RequestHeader("Idempotency-Key") String key) {
        return failingCallable(key);
    }

    private IllegalStateException broken(String key) {
        effects.add(key);
        return new IllegalStateException("broken");
    }

    @PostMapping("/not-found")
    @Idempotent
    CompletableFuture<String> notFound(@RequestHeader("Idempotency-Key") String key) {
        effects.add(key);
        return CompletableFuture.failedFuture(new ResponseStatusException(HttpStatus.NOT_FOUND, "nowhere"));
    }

    @PostMapping("/announced-end")
    @Idempotent
    void announcedEnd(HttpServletRequest request, HttpServletResponse response) throws IOException {
        AsyncContext context = request.startAsync();
        response.getWriter().write("begun ");
        context.complete();
        response.getWriter().write("done");
    }

    @PostMapping("/context-of-request")
    @Idempotent
    void contextOfRequest(HttpServletRequest request, HttpServletResponse response) {
        request.startAsync();
        request.getAsyncContext().start(() -> {
            try {
                response.getWriter().write("done");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            request.getAsyncContext().complete();
        });
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

    @PostMapping("/proceeding-by-key")
    @Idempotent(operation = "proceeding", key = "#key")
    String proceedingByKey(@RequestHeader("Idempotency-Key") String key) {
        return "run " + effects.add(key);
    }

    /** Waits in the first two runs. */
    @PostMapping("/outdone")
    @Idempotent(lease = "150ms", maxExecution = "1ms")
    ResponseEntity<String> outdone(@RequestHeader("Idempotency-Key") String key) {
        int run = effects.add(key);
        effects.passStop(run + " of " + key);
        return ResponseEntity.ok().eTag("run-" + run).body("run " + run);
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

    /** Writes more than is held back, when the container has long ended the request. */
    @PostMapping("/late-writer")
    @Idempotent
    void lateWriter(
            @RequestHeader("Idempotency-Key") String key, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        effects.add(key);
        ServletOutputStream out = response.getOutputStream();
        request.startAsync().setTimeout(50);
        new Thread(() -> {
                    effects.passStop(key);
                    try {
                        out.write(new byte[2 << 20]);
                    } catch (IOException e) {
                        effects.add("refused " + key);
                    }
                })
                .start();
    }

    /** Fails after it has asked for another thread. */
    @PostMapping("/started-and-failed")
    @Idempotent
    void startedAndFailed(@RequestHeader("Idempotency-Key") String key, HttpServletRequest request) {
        request.startAsync();
        throw broken(key);
    }

    static final class NoFunds extends RuntimeException {
        private static final long serialVersionUID = 1L;
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
