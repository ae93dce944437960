package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spring.web.HandlerChecks.Failure;
import io.idempotency.spring.web.HandlerChecks.Findings;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import kotlin.coroutines.Continuation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockServletContext;
import org.springframework.scheduling.annotation.Async;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.UrlBasedCorsConfigurationSource;
import org.springframework.web.servlet.config.annotation.CorsRegistry;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class HandlerChecksTests {

    private static final TestMethods METHODS =
            new TestMethods(Guarantee.AT_LEAST_ONCE, method -> (BusinessTransactions) Proxy.newProxyInstance(
                    HandlerChecksTests.class.getClassLoader(),
                    new Class<?>[] {BusinessTransactions.class},
                    (proxy, called, arguments) -> null));

    private static Findings check(Class<?>... configuration) {
        try (AnnotationConfigWebApplicationContext context = context(configuration)) {
            return new HandlerChecks(context, METHODS, WebSettings.defaults()).run();
        }
    }

    private static AnnotationConfigWebApplicationContext context(Class<?>... configuration) {
        AnnotationConfigWebApplicationContext context = new AnnotationConfigWebApplicationContext();
        context.setServletContext(new MockServletContext());
        context.register(Mvc.class);
        for (Class<?> each : configuration) {
            context.register(each);
        }
        context.refresh();
        return context;
    }

    @Test
    void findsNothingWrongWithOrdinaryHandlers() {
        assertThat(check(Good.class)).isEqualTo(new Findings(List.of(), List.of()));
    }

    /** Case 92. */
    @Test
    void refusesHandlersOfSafeMethods() {
        List<Failure> failures = check(Safe.class).failures();

        assertThat(failures).hasSize(4);
        assertThat(failures).allMatch(failure -> failure.description().contains(Safe.class.getName()));
        assertThat(failures.toString()).contains("GET", "HEAD", "OPTIONS", "every HTTP method");
    }

    @Test
    void refusesATransactionForWhatDoesNotEndOnTheThreadOfTheRequest() {
        List<Failure> failures = check(Asynchronous.class).failures();

        int handlers = (int) java.util.Arrays.stream(Asynchronous.class.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(Idempotent.class))
                .filter(method -> method.getAnnotation(Idempotent.class).guarantee() == Guarantee.EXACTLY_ONCE)
                .count();
        // And the methods that are @Async or suspend, whatever the guarantee.
        assertThat(failures).hasSize(handlers + 2);
        assertThat(failures).allMatch(failure -> failure.description().contains("because the method "));
        assertThat(failures.toString())
                .contains(
                        "answers asynchronously",
                        "streams its response",
                        "answers reactively (it returns reactor.core.publisher.Mono<java.lang.String>)",
                        "answers reactively (it returns"
                                + " org.springframework.http.ResponseEntity<reactor.core.publisher.Flux<java.lang.String>>)",
                        "is a suspending function",
                        "runs on another thread");
    }

    @Test
    void refusesAFingerprintOfArgumentsForAKeyOfTheHeader() {
        List<Failure> failures = check(Expressions.class).failures();

        assertThat(failures).hasSize(1);
        assertThat(failures.toString()).contains("names a fingerprint");
    }

    @Test
    void refusesAHandlerThatWasRegisteredAsAnObject() throws Exception {
        try (AnnotationConfigWebApplicationContext context = context()) {
            context.getBean("requestMappingHandlerMapping", RequestMappingHandlerMapping.class)
                    .registerMapping(
                            RequestMappingInfo.paths("/by-hand")
                                    .methods(RequestMethod.POST)
                                    .options(new RequestMappingInfo.BuilderConfiguration())
                                    .build(),
                            new Good(),
                            Good.class.getDeclaredMethod("plain"));

            Findings findings = new HandlerChecks(context, METHODS, WebSettings.defaults()).run();

            assertThat(findings.failures()).hasSize(1);
            assertThat(findings.failures().get(0).description()).contains("not proxied");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {ClosedCors.class, ClosedSecurityCors.class, ClosedCrossOrigin.class})
    void warnsWhereBrowsersCannotSendTheKey(Class<?> cors) {
        List<String> warnings = check(Good.class, cors).warnings();

        assertThat(warnings).hasSize(1);
        assertThat(warnings.get(0))
                .contains("does not allow the request header Idempotency-Key", "\"Idempotency-Key\"");
    }

    @ParameterizedTest
    @ValueSource(
            classes = {OpenCors.class, DefaultCors.class, OtherCors.class, OpenSecurityCors.class, OpenCrossOrigin.class
            })
    void isSilentWhereTheyCan(Class<?> cors) {
        assertThat(check(Good.class, cors).warnings()).isEmpty();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    static class Mvc {}

    @RestController
    @RequestMapping("/good")
    static class Good {

        @PostMapping("/plain")
        @Idempotent
        String plain() {
            return "";
        }

        @PostMapping("/entity/{id}")
        @Idempotent
        ResponseEntity<List<Map<String, Object>>> entity() {
            return ResponseEntity.ok(List.of());
        }

        @RequestMapping(
                path = "/several",
                method = {RequestMethod.PUT, RequestMethod.PATCH})
        @Idempotent
        void several() {}

        @PostMapping("/not-idempotent")
        Callable<String> notIdempotent() {
            return () -> "";
        }
    }

    @RestController
    @RequestMapping("/safe")
    static class Safe {

        @RequestMapping(
                path = "/get",
                method = {RequestMethod.GET, RequestMethod.POST})
        @Idempotent
        void get() {}

        @RequestMapping(path = "/head", method = RequestMethod.HEAD)
        @Idempotent
        void head() {}

        @RequestMapping(path = "/options", method = RequestMethod.OPTIONS)
        @Idempotent
        void options() {}

        @RequestMapping("/any")
        @Idempotent
        void any() {}
    }

    @RestController
    @RequestMapping("/async")
    @SuppressWarnings("NullAway")
    static class Asynchronous {

        @PostMapping("/1")
        @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
        Callable<String> callable() {
            return null;
        }

        @PostMapping("/2")
        @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
        DeferredResult<String> deferred() {
            return null;
        }

        @PostMapping("/3")
        @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
        WebAsyncTask<String> task() {
            return null;
        }

        @PostMapping("/4")
        @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
        CompletableFuture<String> future() {
            return null;
        }

        @PostMapping("/5")
        @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
        ResponseEntity<CompletableFuture<String>> entityOfFuture() {
            return null;
        }

        @PostMapping("/6")
        @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
        ResponseBodyEmitter emitter() {
            return null;
        }

        @PostMapping("/7")
        @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
        ResponseEntity<SseEmitter> events() {
            return null;
        }

        @PostMapping("/8")
        @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
        ResponseEntity<StreamingResponseBody> streaming() {
            return null;
        }

        @PostMapping("/9")
        @Idempotent
        ResponseEntity<CompletableFuture<String>> leased() {
            return null;
        }

        @PostMapping("/10")
        @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
        Flow.Publisher<String> publisher() {
            return null;
        }

        @PostMapping("/12")
        @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
        Mono<String> mono() {
            return null;
        }

        @PostMapping("/13")
        @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
        ResponseEntity<Flux<String>> flux() {
            return null;
        }

        @PostMapping("/14")
        @Idempotent
        Object suspending(Continuation<String> continuation) {
            return null;
        }

        @PostMapping("/11")
        @Idempotent
        @Async
        public void elsewhere() {}
    }

    @RestController
    @RequestMapping("/expressions")
    static class Expressions {

        @PostMapping("/key")
        @Idempotent(key = "#order")
        void key(String order) {}

        @PostMapping("/fingerprint")
        @Idempotent(fingerprint = "#order")
        void fingerprint(String order) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class ClosedCors implements WebMvcConfigurer {

        @Override
        public void addCorsMappings(CorsRegistry registry) {
            registry.addMapping("/good/**").allowedHeaders("Content-Type");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OpenCors implements WebMvcConfigurer {

        @Override
        public void addCorsMappings(CorsRegistry registry) {
            registry.addMapping("/**").allowedHeaders("content-type", "idempotency-key");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class DefaultCors implements WebMvcConfigurer {

        @Override
        public void addCorsMappings(CorsRegistry registry) {
            registry.addMapping("/**");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OtherCors implements WebMvcConfigurer {

        @Override
        public void addCorsMappings(CorsRegistry registry) {
            registry.addMapping("/elsewhere/**").allowedHeaders("Content-Type");
        }
    }

    private static CorsConfigurationSource source(String... headers) {
        CorsConfiguration configuration = new CorsConfiguration();
        configuration.addAllowedOrigin("https://shop.example");
        configuration.addAllowedMethod("POST");
        configuration.setAllowedHeaders(List.of(headers));
        UrlBasedCorsConfigurationSource source = new UrlBasedCorsConfigurationSource();
        source.registerCorsConfiguration("/**", configuration);
        return source;
    }

    @Configuration(proxyBeanMethods = false)
    static class ClosedSecurityCors {

        @Bean
        CorsConfigurationSource corsConfigurationSource() {
            return source("Content-Type");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OpenSecurityCors {

        @Bean
        CorsConfigurationSource corsConfigurationSource() {
            return source("*");
        }
    }

    @RestController
    @RequestMapping("/closed")
    static class ClosedCrossOrigin {

        @PostMapping
        @CrossOrigin(allowedHeaders = "Content-Type")
        @Idempotent
        void closed() {}
    }

    @RestController
    @RequestMapping("/open")
    @CrossOrigin(allowedHeaders = "Content-Type")
    static class OpenCrossOrigin {

        @PostMapping
        @CrossOrigin(allowedHeaders = "Idempotency-Key")
        @Idempotent
        void open() {}
    }
}
