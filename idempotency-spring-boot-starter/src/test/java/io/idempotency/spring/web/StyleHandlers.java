package io.idempotency.spring.web;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import io.idempotency.Idempotent;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.sql.DataSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Controller;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** One handler for each way in which a Spring MVC application answers a request; all answer "done" in the end. */
@Configuration(proxyBeanMethods = false)
class StyleHandlers {

    static final String LARGE = "0123456789abcdef".repeat(4096);

    @Bean
    Work work(Effects effects, DataSource dataSource) {
        JdbcClient jdbc = JdbcClient.create(dataSource);
        jdbc.sql("create table done (k varchar(255) not null)").update();
        return new Work(effects, jdbc);
    }

    @Bean
    RouterFunction<ServerResponse> functional(Work work) {
        HandlerFunction<ServerResponse> done = request -> ServerResponse.status(201)
                .body(work.done(key(request.servletRequest()), fails(request.servletRequest())));
        return RouterFunctions.route()
                .POST("/leased/by-rule-functional", done)
                .POST("/transactional/by-rule-functional", done)
                .POST(
                        "/leased/by-rule-future",
                        request -> ServerResponse.async(CompletableFuture.supplyAsync(
                                () -> ServerResponse.status(202)
                                        .body(work.done(
                                                key(request.servletRequest()), fails(request.servletRequest()))),
                                work.threads)))
                .POST("/leased/by-rule-sse", request -> {
                    String key = key(request.servletRequest());
                    boolean fail = fails(request.servletRequest());
                    return ServerResponse.sse(events -> work.send(events, key, fail));
                })
                .build();
    }

    @Bean({"/leased/by-rule-handler", "/transactional/by-rule-handler"})
    HttpRequestHandler handler(Work work) {
        return (request, response) -> response.getWriter().write(work.done(key(request), fails(request)));
    }

    private static String key(HttpServletRequest request) {
        return request.getHeader("Idempotency-Key");
    }

    private static boolean fails(HttpServletRequest request) {
        return Boolean.parseBoolean(request.getHeader("X-Fail"));
    }

    /** What a handler throws that its controller answers. */
    static final class Declined extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** What every handler does, on whatever thread. */
    static final class Work implements DisposableBean {

        final ExecutorService threads = Executors.newCachedThreadPool();
        private final Effects effects;
        private final JdbcClient jdbc;

        Work(Effects effects, JdbcClient jdbc) {
            this.effects = effects;
            this.jdbc = jdbc;
        }

        /** How often the work was done and not undone. */
        int rows(String key) {
            return jdbc.sql("select count(*) from done where k = ?")
                    .param(key)
                    .query(Integer.class)
                    .single();
        }

        String done(String key, boolean fail) {
            effects.add(key);
            jdbc.sql("insert into done values (?)").param(key).update();
            effects.passStop(key);
            if (fail) {
                throw new IllegalStateException("failed on demand");
            }
            return "done";
        }

        void noteContext(String key) {
            IdempotencyContext.current()
                    .filter(context -> context.key().equals(key))
                    .ifPresent(context -> effects.add("context of " + key));
        }

        void send(ResponseBodyEmitter emitter, String key, boolean fail) {
            threads.execute(() -> {
                try {
                    emitter.send("begun ", MediaType.TEXT_PLAIN);
                    emitter.send(done(key, fail), MediaType.TEXT_PLAIN);
                    emitter.complete();
                } catch (IOException | RuntimeException e) {
                    emitter.completeWithError(e);
                }
            });
        }

        void send(ServerResponse.SseBuilder events, String key, boolean fail) {
            threads.execute(() -> {
                try {
                    events.send("begun ");
                    events.send(done(key, fail));
                    events.complete();
                } catch (IOException | RuntimeException e) {
                    events.error(e);
                }
            });
        }

        @Override
        public void destroy() {
            threads.shutdownNow();
        }
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Answers on the thread of the request, under any guarantee. */
    abstract static class Synchronous {

        final Work work;

        Synchronous(Work work) {
            this.work = work;
        }

        @PostMapping("/body")
        @ResponseBody
        String body(@RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            return work.done(key, fail);
        }

        @PostMapping("/entity")
        ResponseEntity<String> entity(
                @RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            return ResponseEntity.created(URI.create("/things/1")).body(work.done(key, fail));
        }

        @PostMapping("/servlet")
        void servlet(
                @RequestHeader("Idempotency-Key") String key,
                @RequestHeader("X-Fail") boolean fail,
                HttpServletResponse response)
                throws IOException {
            response.getWriter().write(work.done(key, fail));
        }

        @PostMapping("/view")
        ModelAndView view(@RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            String done = work.done(key, fail);
            return new ModelAndView(
                    (model, request, response) -> response.getWriter().write(done));
        }

        @PostMapping("/resource")
        ResponseEntity<Resource> resource(
                @RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            return ResponseEntity.ok(new ByteArrayResource(utf8(work.done(key, fail))));
        }

        @PostMapping("/large-resource")
        ResponseEntity<Resource> largeResource(
                @RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            return ResponseEntity.ok(new ByteArrayResource(utf8(LARGE + work.done(key, fail))));
        }

        @PostMapping("/send-error")
        void sendError(
                @RequestHeader("Idempotency-Key") String key,
                @RequestHeader("X-Fail") boolean fail,
                HttpServletResponse response)
                throws IOException {
            work.done(key, fail);
            response.sendError(404, "nowhere");
        }

        @PostMapping("/redirect")
        void redirect(
                @RequestHeader("Idempotency-Key") String key,
                @RequestHeader("X-Fail") boolean fail,
                HttpServletResponse response)
                throws IOException {
            work.done(key, fail);
            response.sendRedirect("/elsewhere");
        }

        @PostMapping("/advised")
        @ResponseBody
        String advised(@RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            work.done(key, fail);
            throw new Declined();
        }

        @ExceptionHandler
        ResponseEntity<String> handle(Declined declined) {
            return ResponseEntity.status(402).body("done");
        }
    }

    @Controller
    @RequestMapping("/leased")
    @Idempotent(guarantee = Guarantee.AT_LEAST_ONCE)
    static class Leased extends Synchronous {

        Leased(Work work) {
            super(work);
        }

        @PostMapping("/callable")
        @ResponseBody
        Callable<String> callable(@RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            return () -> {
                work.noteContext(key);
                return work.done(key, fail);
            };
        }

        @PostMapping("/task")
        @ResponseBody
        WebAsyncTask<String> task(@RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            return new WebAsyncTask<>(60_000L, () -> work.done(key, fail));
        }

        @PostMapping("/deferred")
        DeferredResult<ResponseEntity<String>> deferred(
                @RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            DeferredResult<ResponseEntity<String>> result = new DeferredResult<>(60_000L);
            work.threads.execute(() -> {
                try {
                    result.setResult(ResponseEntity.accepted().body(work.done(key, fail)));
                } catch (RuntimeException e) {
                    result.setErrorResult(e);
                }
            });
            return result;
        }

        @PostMapping("/completed-deferred")
        @ResponseBody
        DeferredResult<String> completedDeferred(
                @RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            DeferredResult<String> result = new DeferredResult<>();
            result.setResult(work.done(key, fail));
            return result;
        }

        @PostMapping("/future")
        @ResponseBody
        CompletableFuture<String> future(
                @RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            return CompletableFuture.supplyAsync(() -> work.done(key, fail), work.threads);
        }

        @PostMapping("/mono")
        @ResponseBody
        Mono<String> mono(@RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            return Mono.fromCallable(() -> work.done(key, fail)).subscribeOn(Schedulers.fromExecutor(work.threads));
        }

        @PostMapping(path = "/flux", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        @ResponseBody
        Flux<String> flux(@RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            return Flux.just("begun ").concatWith(mono(key, fail));
        }

        @PostMapping("/raw-async")
        @ResponseBody
        void rawAsync(
                @RequestHeader("Idempotency-Key") String key,
                @RequestHeader("X-Fail") boolean fail,
                HttpServletRequest request) {
            AsyncContext context = request.startAsync();
            context.setTimeout(60_000);
            work.threads.execute(() -> {
                HttpServletResponse response = (HttpServletResponse) context.getResponse();
                try {
                    response.getOutputStream().write(utf8(work.done(key, fail)));
                } catch (IOException | RuntimeException e) {
                    response.setStatus(500);
                }
                context.complete();
            });
        }

        @PostMapping("/raw-at-once")
        void rawAtOnce(
                @RequestHeader("Idempotency-Key") String key,
                @RequestHeader("X-Fail") boolean fail,
                HttpServletRequest request,
                HttpServletResponse response)
                throws IOException {
            AsyncContext context = request.startAsync(request, response);
            response.getWriter().write(work.done(key, fail));
            context.complete();
        }

        @PostMapping("/raw-dispatch")
        @ResponseBody
        void rawDispatch(
                @RequestHeader("Idempotency-Key") String key,
                @RequestHeader("X-Fail") boolean fail,
                HttpServletRequest request) {
            AsyncContext context = request.startAsync();
            context.setTimeout(60_000);
            context.start(() -> {
                String result;
                try {
                    work.noteContext(key);
                    result = work.done(key, fail);
                } catch (RuntimeException e) {
                    result = "";
                }
                context.dispatch("/dispatched?result=" + result);
            });
        }

        @PostMapping("/streaming-body")
        ResponseEntity<StreamingResponseBody> streamingBody(
                @RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            return ResponseEntity.ok().contentType(MediaType.TEXT_PLAIN).body(out -> {
                out.write(utf8("begun "));
                out.flush();
                out.write(utf8(work.done(key, fail)));
            });
        }

        @PostMapping("/sse")
        SseEmitter sse(@RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            SseEmitter emitter = new SseEmitter(60_000L);
            work.send(emitter, key, fail);
            return emitter;
        }

        @PostMapping("/emitter")
        ResponseBodyEmitter emitter(
                @RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            ResponseBodyEmitter emitter = new ResponseBodyEmitter(60_000L);
            work.send(emitter, key, fail);
            return emitter;
        }
    }

    @Controller
    static class ByRule {

        private final Work work;

        ByRule(Work work) {
            this.work = work;
        }

        @PostMapping({"/leased/by-rule-controller", "/transactional/by-rule-controller"})
        @ResponseBody
        String byRule(@RequestHeader("Idempotency-Key") String key, @RequestHeader("X-Fail") boolean fail) {
            return work.done(key, fail);
        }
    }

    @Controller
    @RequestMapping("/dispatched")
    static class Dispatched {

        @PostMapping
        void dispatched(HttpServletRequest request, HttpServletResponse response) {
            try {
                String result = request.getParameter("result");
                if (result.isEmpty()) {
                    response.setStatus(500);
                }
                response.getWriter().write(result);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Controller
    @RequestMapping("/transactional")
    @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
    static class Transactional extends Synchronous {

        Transactional(Work work) {
            super(work);
        }

        /** Says nothing of what it does. */
        @PostMapping("/undeclared-callable")
        @ResponseBody
        Object undeclaredCallable(@RequestHeader("Idempotency-Key") String key) {
            String done = work.done(key, false);
            return (Callable<String>) () -> done;
        }

        @PostMapping("/undeclared-start")
        void undeclaredStart(@RequestHeader("Idempotency-Key") String key, HttpServletRequest request) {
            work.done(key, false);
            request.startAsync();
        }
    }
}
