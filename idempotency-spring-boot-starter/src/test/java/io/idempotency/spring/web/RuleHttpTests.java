package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.servlet.function.RouterFunctions.route;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import io.idempotency.engine.DefaultOutcomePolicy;
import io.idempotency.engine.OperationSettings;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.util.pattern.PathPatternParser;

/** Handlers that nobody can annotate: functional endpoints, controllers of other libraries, handlers of other kinds. */
class RuleHttpTests {

    @AutoClose
    private static final TestServer server =
            TestServer.start(Foreign.class, "spring.servlet.multipart.resolve-lazily=true");

    private final String key = TestServer.newKey();

    private int effects() {
        return server.effects().of(key);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/ruled/functional",
                "/ruled/functional-async",
                "/ruled/controller",
                "/ruled/controller-async",
                "/ruled/handler"
            })
    void runsOnceAndReplays(String path) {
        Answer first = server.post(path, key, "{}");
        Answer second = server.post(path, key, "{}");

        assertThat(first.status()).isEqualTo(201);
        assertThat(first.text()).isEqualTo("run 1");
        assertThat(first.headers("Idempotent-Replayed")).isEmpty();
        assertThat(second.status()).isEqualTo(201);
        assertThat(second.text()).isEqualTo("run 1");
        assertThat(second.replayed()).isTrue();
        assertThat(effects()).isEqualTo(1);
        assertThat(server.effects().of("context of " + key)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/ruled/functional", "/ruled/controller", "/ruled/handler"})
    void refusesADuplicateWhileTheFirstRuns(String path) {
        CompletableFuture<Answer> first;
        Answer during;
        try (Effects.Stop stop = server.effects().stop(key)) {
            first = server.postLater(path, key, "{}");
            stop.awaitArrival();
            during = server.post(path, key, "{}");
        }

        assertThat(during.problem()).isEqualTo("in-progress");
        assertThat(first.join().status()).isEqualTo(201);
        assertThat(effects()).isEqualTo(1);
    }

    /** Case 87: route C of the case is the one that no rule covers. */
    @Test
    void requiresAKeyWhereARuleCoversTheRequestAndNowhereElse() {
        assertThat(server.post("/ruled/controller", null, "{}").problem()).isEqualTo("key-missing");
        assertThat(server.post("/free/controller", null, "{}").status()).isEqualTo(200);
        assertThat(server.post("/free/controller", key, "{}").replayed()).isFalse();
        assertThat(server.post("/free/controller", key, "{}").replayed()).isFalse();
    }

    /** Case 92: a rule means POST and PATCH where it says nothing else. */
    @Test
    void coversTheMethodsOfTheRule() {
        byte[] body = new byte[0];
        server.send("PATCH", "/ruled/patched", key, body);
        server.send("PUT", "/ruled/put", key, body);

        assertThat(server.send("PATCH", "/ruled/patched", key, body).replayed()).isTrue();
        assertThat(server.send("PUT", "/ruled/put", key, body).replayed()).isFalse();
        assertThat(server.send("GET", "/ruled/put", key, body).status()).isEqualTo(405);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/ruled/nowhere", "/static/nowhere"})
    void leavesNoRecordWhereThereIsNoHandler(String path) {
        HookedStore store = server.bean(HookedStore.class);
        store.drain();

        assertThat(server.post(path, key, "{}").status()).isIn(404, 405);
        assertThat(store.drain()).isEmpty();
    }

    /** The policy judges before the advice answers, as for an annotated handler. */
    @Test
    void letsThePolicyJudgeWhatAForeignHandlerThrows() {
        Answer first = server.post("/ruled/failing", key, "{}");
        Answer second = server.post("/ruled/failing", key, "{}");

        assertThat(first.status()).isEqualTo(503);
        assertThat(second.status()).isEqualTo(503);
        assertThat(second.replayed()).isTrue();
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void runsAgainAfterAnUnhandledFailure() {
        assertThat(server.post("/ruled/functional-failing", key, "{}").status()).isEqualTo(500);
        assertThat(server.post("/ruled/functional-failing", key, "{}").status()).isEqualTo(500);
        assertThat(effects()).isEqualTo(2);
    }

    /** As for an annotated handler: what would not be protected is not called. */
    @ParameterizedTest
    @ValueSource(strings = {"/free/forward-controller", "/free/forward-functional"})
    void doesNotCallAHandlerByRuleThatTheFilterDidNotSee(String path) {
        assertThat(server.post(path, key, "{}").status()).isEqualTo(500);
        assertThat(effects()).isZero();
    }

    /** A container that cannot read the parts has read the body, and a handler may not care. */
    @Test
    void doesNotCallAHandlerByRuleForPartsThatCannotBeRead() {
        Answer answer = server.post("/ruled/controller", key, "no parts", "Content-Type", "multipart/form-data");

        assertThat(answer.status()).isBetween(400, 500);
        assertThat(effects()).isZero();
    }

    /** A rule for every path covers no page of the container's. */
    @Test
    void coversNoErrorPage() {
        Answer failed = server.post("/ruled/functional-failing", key, "{}");

        assertThat(failed.json().get("path").asText()).isEqualTo("/ruled/functional-failing");
        assertThat(failed.json().get("error").asText()).isEqualTo("Internal Server Error");
    }

    /** The page of a replayed error is a page, and not the handler that the replay has stopped. */
    @Test
    void letsTheContainerRenderAReplayedError() {
        Answer first = server.post("/ruled/missing", key, "{}");
        Answer second = server.post("/ruled/missing", key, "{}");

        assertThat(first.status()).isEqualTo(404);
        assertThat(second.status()).isEqualTo(404);
        assertThat(second.replayed()).isTrue();
        assertThat(second.json().get("message").asText()).isEqualTo("nowhere");
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void coversAForwardOfAHandlerByRuleByItsOwnRecord() {
        Answer first = server.post("/ruled/forward", key, "{}");
        Answer second = server.post("/ruled/forward", key, "{}");

        assertThat(first.status()).isEqualTo(201);
        assertThat(second.replayed()).isTrue();
        assertThat(effects()).isEqualTo(1);
    }

    /** Interceptors run before the gate, so that what they refuse is refused for a replay as well. */
    @ParameterizedTest
    @ValueSource(strings = {"/ruled/functional", "/ruled/controller"})
    void asksTheInterceptorsOfTheApplicationBeforeAReplay(String path) {
        server.post(path, key, "{}");

        Answer refused = server.post(path, key, "{}", "X-Forbidden", "true");

        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.text()).doesNotContain("run 1");
        assertThat(server.post(path, key, "{}").replayed()).isTrue();
    }

    static final class Declined extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @RestController
    @RequestMapping
    static class ForeignController {

        private final Effects effects;

        ForeignController(Effects effects) {
            this.effects = effects;
        }

        private ResponseEntity<String> run(String key) {
            return ResponseEntity.status(201).body(work(effects, key));
        }

        @PostMapping("/ruled/controller")
        ResponseEntity<String> handle(@RequestHeader("Idempotency-Key") String key) {
            return run(key);
        }

        @PostMapping("/ruled/controller-async")
        CompletableFuture<ResponseEntity<String>> later(@RequestHeader("Idempotency-Key") String key) {
            IdempotencyContext context = IdempotencyContext.current().orElseThrow();
            return CompletableFuture.supplyAsync(() -> {
                try (IdempotencyContext.Scope ignored = IdempotencyContext.bind(context)) {
                    return run(key);
                }
            });
        }

        @PostMapping("/ruled/failing")
        String failing(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            throw new Declined();
        }

        @ExceptionHandler
        ResponseEntity<String> handle(Declined declined) {
            return ResponseEntity.status(503).body("declined");
        }

        @PostMapping("/ruled/missing")
        void missing(@RequestHeader("Idempotency-Key") String key, HttpServletResponse response) throws IOException {
            effects.add(key);
            response.sendError(404, "nowhere");
        }

        @PatchMapping("/ruled/patched")
        String patched() {
            return "patched";
        }

        @PutMapping("/ruled/put")
        String put() {
            return "put";
        }

        @PostMapping({"/free/forward-controller", "/ruled/forward"})
        ModelAndView forward() {
            return new ModelAndView("forward:/ruled/controller");
        }

        @PostMapping("/free/forward-functional")
        ModelAndView forwardFunctional() {
            return new ModelAndView("forward:/ruled/functional");
        }

        @PostMapping("/free/controller")
        String free() {
            return "free";
        }
    }

    private static String work(Effects effects, String key) {
        int run = effects.add(key);
        IdempotencyContext.current().ifPresent(context -> effects.add("context of " + context.key()));
        effects.passStop(key);
        return "run " + run;
    }

    @Configuration(proxyBeanMethods = false)
    @Import({LibraryConfiguration.class, Servers.InMemory.class, ForeignController.class})
    static class Foreign implements WebMvcConfigurer {

        @Bean
        static RuleGate ruleGate(ObjectProvider<FilterRegistrationBean<IdempotencyFilter>> filter) {
            return new RuleGate(() -> filter.getObject().getFilter());
        }

        @Bean
        PathRule ruled() {
            return rule("/ruled/**");
        }

        @Bean
        PathRule statics() {
            return rule("/static/**");
        }

        @Bean
        PathRule errors() {
            return rule("/error");
        }

        private static PathRule rule(String path) {
            return new PathRule(
                    Set.of("POST", "PATCH"),
                    PathPatternParser.defaultInstance.parse(path),
                    OperationSettings.of("ruled", Guarantee.AT_LEAST_ONCE)
                            .outcomePolicy(new DefaultOutcomePolicy(List.of(Declined.class), List.of()))
                            .build(),
                    true,
                    FingerprintScheme.RAW);
        }

        @Bean
        RouterFunction<ServerResponse> functional(Effects effects) {
            return route().POST(
                            "/ruled/functional",
                            request -> ServerResponse.status(201).body(work(effects, keyOf(request))))
                    .POST("/ruled/functional-async", request -> {
                        IdempotencyContext context =
                                IdempotencyContext.current().orElseThrow();
                        return ServerResponse.async(CompletableFuture.supplyAsync(() -> {
                            try (IdempotencyContext.Scope ignored = IdempotencyContext.bind(context)) {
                                return ServerResponse.status(201).body(work(effects, keyOf(request)));
                            }
                        }));
                    })
                    .POST("/ruled/functional-failing", request -> {
                        work(effects, keyOf(request));
                        throw new IllegalStateException("failed on demand");
                    })
                    .build();
        }

        private static String keyOf(ServerRequest request) {
            return request.headers().firstHeader("Idempotency-Key");
        }

        @Bean("/ruled/handler")
        HttpRequestHandler handler(Effects effects) {
            return (request, response) -> {
                response.setStatus(201);
                response.getWriter().write(work(effects, request.getHeader("Idempotency-Key")));
            };
        }

        @Override
        public void addInterceptors(InterceptorRegistry registry) {
            registry.addInterceptor(new HandlerInterceptor() {
                @Override
                public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
                    boolean forbidden = request.getHeader("X-Forbidden") != null;
                    if (forbidden) {
                        response.setStatus(403);
                    }
                    return !forbidden;
                }
            });
        }
    }
}
