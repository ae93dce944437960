package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Idempotent;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.filter.HiddenHttpMethodFilter;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** Case 98 with a filter in front that reads parameters, and an application that catches every exception. */
class FilteredBodyHttpTests {

    private static final String FORM = "name=charg%C3%A9e+%26+co&tag=1&tag=%E4%B8%AD";

    @AutoClose
    private static final TestServer server = TestServer.start(Filtered.class);

    private final String key = TestServer.newKey();

    private Answer form(String path, String body) {
        return server.send(
                "POST",
                path,
                key,
                body.getBytes(StandardCharsets.US_ASCII),
                "Content-Type",
                "application/x-www-form-urlencoded");
    }

    /** Case 98: the filter has made the container read the body. */
    @ParameterizedTest
    @CsvSource({
        "/bodies/params, ''",
        "/bodies/model, ''",
        "/bodies/map, ''",
        "/bodies/params, _method=put&",
        "/bodies/map, _method=put&"
    })
    void showsFormFieldsToEverybody(String path, String method) {
        Answer first = form(path, method + FORM);
        Answer second = form(path, method + FORM);

        assertThat(first.text()).isEqualTo("charg\u00e9e & co [1, \u4e2d]");
        assertThat(second.replayed()).isTrue();
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 98: even to who reads the stream, which would be empty without the library. */
    @Test
    void showsAFormThatWasReadBeforeToWhoReadsTheStream() {
        Answer answer = form("/bodies/bytes?name=0", FORM);

        // Values of the query are told apart from those of the body.
        assertThat(answer.text()).isEqualTo(FORM);
        assertThat(form("/bodies/bytes?name=0", FORM).replayed()).isTrue();
        assertThat(form("/bodies/bytes?name=0", FORM + "&x=1").problem()).isEqualTo("key-reused");
    }

    /** No length tells how large it is, and the container has read it. */
    @Test
    void refusesAFormThatIsTooLargeAndWasReadBefore() throws IOException {
        String body = "name=a&tag=1&x=" + "x".repeat(1_100_000);
        try (TestServer.Raw raw = server.raw()) {
            raw.write(("POST /bodies/params HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: " + key
                            + "\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n"
                            + Integer.toHexString(body.length()) + "\r\n" + body + "\r\n0\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));

            assertThat(raw.read().problem()).isEqualTo("request-too-large");
        }
        assertThat(server.effects().of(key)).isZero();
    }

    @Test
    void keepsAnOverriddenMethodApart() {
        assertThat(form("/filtered/method", "_method=put").text()).isEqualTo("put");
        assertThat(form("/filtered/method", "_method=post").text()).isEqualTo("post");
        assertThat(form("/filtered/method", "_method=put").replayed()).isTrue();
    }

    /** An advice for every exception sees none of ours. */
    @Test
    void showsNoAdviceTheEndOfAReplay() {
        Advice advice = server.bean(Advice.class);
        form("/filtered/method", "_method=post");
        int before = advice.calls.get();

        assertThat(form("/filtered/method", "_method=post").replayed()).isTrue();
        assertThat(advice.calls.get()).isEqualTo(before);
    }

    /** Who writes to the response of the container has sent something that nobody can take back or store. */
    @Test
    void remembersTheFactWhereAHandlerWritesPastTheFilter() {
        Answer first = form("/filtered/native", "a=1");
        Answer second = form("/filtered/native", "a=1");

        assertThat(first.text()).isEqualTo("native");
        assertThat(second.problem()).isEqualTo("result-not-replayable");
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** A nested call is not the request's own, and a method that was retried by an aspect is. */
    @Test
    void takesOnlyTheCallOfTheDispatcherForTheRequest() {
        Answer first = form("/filtered/nesting", "a=1");
        Answer second = form("/filtered/nesting", "a=1");

        assertThat(first.text()).isEqualTo("nesting post");
        assertThat(second.replayed()).isTrue();
        assertThat(server.effects().of(key)).isEqualTo(2);
    }

    /** A failure that the handler itself has dealt with is not the handler's. */
    @Test
    void judgesNoFailureOfANestedCallOfTheSameHandler() {
        Answer first = form("/filtered/recursive", "a=1");
        Answer second = form("/filtered/recursive", "a=1");

        assertThat(first.text()).isEqualTo("recovered");
        assertThat(second.replayed()).isTrue();
        assertThat(server.effects().of(key)).isEqualTo(2);
    }

    /** An aspect of the application that tries again: the last try counts. */
    @Test
    void judgesTheLastOfSeveralTries() {
        Answer first = form("/filtered/retried", "a=1");
        Answer second = form("/filtered/retried", "a=1");

        assertThat(first.text()).isEqualTo("done");
        assertThat(second.replayed()).isTrue();
        assertThat(server.effects().of(key)).isEqualTo(2);
    }

    @Test
    void leavesNoTraceOfItsLookInTheRequest() {
        form("/filtered/method", "_method=post");

        assertThat(server.bean(AttributeFilter.class).seen)
                .noneMatch(name -> name.startsWith(HandlerMapping.class.getName()))
                .noneMatch(name -> name.startsWith("org.springframework.web.util.ServletRequestPathUtils"));
    }

    /** An interceptor calls a method of the same name in another controller, before the handler. */
    @Test
    void takesNoMethodOfTheSameNameForTheHandler() {
        server.send("POST", "/filtered/method", key, new byte[0], "X-Call-Other", "1");
        Answer second = server.send("POST", "/filtered/method", key, new byte[0], "X-Call-Other", "1");

        assertThat(second.replayed()).isTrue();
        assertThat(second.text()).isEqualTo("post");
        assertThat(server.effects().of(key)).isEqualTo(3);
    }

    @Test
    void passesCallsOfAHandlerThatAreNoRequests() {
        Handlers handlers = server.bean(Handlers.class);

        assertThat(handlers).isInstanceOf(Advised.class);
        assertThat(handlers.post(key)).isEqualTo("post");
        assertThat(handlers.post(key)).isEqualTo("post");
        assertThat(server.effects().of(key)).isEqualTo(2);
    }

    @RestController
    @RequestMapping("/filtered")
    static class Handlers {

        private final Effects effects;
        private final ObjectProvider<Handlers> self;

        Handlers(Effects effects, ObjectProvider<Handlers> self) {
            this.effects = effects;
            this.self = self;
        }

        @PutMapping("/method")
        @Idempotent
        String put(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return "put";
        }

        @PostMapping("/method")
        @Idempotent
        String post(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return "post";
        }

        @PostMapping("/nesting")
        @Idempotent
        String nesting(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return "nesting " + self.getObject().post(key);
        }

        @PostMapping("/recursive")
        @Idempotent(releaseFailures = IllegalArgumentException.class)
        public String recursive(@RequestHeader("Idempotency-Key") String key) {
            if (effects.add(key) == 2) {
                throw new IllegalArgumentException("nested");
            }
            try {
                return self.getObject().recursive(key);
            } catch (IllegalArgumentException e) {
                return "recovered";
            }
        }

        @PostMapping("/retried")
        @Idempotent(releaseFailures = IllegalStateException.class)
        public String retried(@RequestHeader("Idempotency-Key") String key) {
            if (effects.add(key) == 1) {
                throw new IllegalStateException("try again");
            }
            return "done";
        }

        @PostMapping("/native")
        @Idempotent
        void nativeResponse(
                @RequestHeader("Idempotency-Key") String key,
                @RequestParam String a,
                HttpServletRequest request,
                HttpServletResponse response)
                throws IOException {
            effects.add(key);
            ServletResponse innermost = response;
            while (innermost instanceof ServletResponseWrapper wrapper) {
                innermost = wrapper.getResponse();
            }
            assertThat(request).isInstanceOf(ServletRequestWrapper.class);
            innermost.getOutputStream().print("native");
            innermost.flushBuffer();
        }
    }

    @RestController
    static class OtherHandlers {

        private final Effects effects;

        OtherHandlers(Effects effects) {
            this.effects = effects;
        }

        @PostMapping("/filtered/other")
        @Idempotent
        public String post(@RequestHeader("Idempotency-Key") String key) {
            effects.add(key);
            return "other";
        }
    }

    static final class OtherCaller implements WebMvcConfigurer, HandlerInterceptor {

        private final ObjectProvider<OtherHandlers> other;

        OtherCaller(ObjectProvider<OtherHandlers> other) {
            this.other = other;
        }

        @Override
        public void addInterceptors(InterceptorRegistry registry) {
            registry.addInterceptor(this);
        }

        @Override
        public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
            if (request.getHeader("X-Call-Other") != null) {
                other.getObject().post(request.getHeader("Idempotency-Key"));
            }
            return true;
        }
    }

    @RestControllerAdvice
    static class Advice {

        final AtomicInteger calls = new AtomicInteger();

        @ExceptionHandler(Throwable.class)
        ResponseEntity<String> onAnything(Throwable failure) {
            calls.incrementAndGet();
            return ResponseEntity.status(HttpStatus.OK).body("caught " + failure.getMessage());
        }
    }

    /** Looks at the request behind the library's filter. */
    static final class AttributeFilter extends OncePerRequestFilter {

        volatile List<String> seen = List.of();

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            seen = Collections.list(request.getAttributeNames());
            chain.doFilter(request, response);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Servers.Leased.class, Handlers.class, OtherHandlers.class, OtherCaller.class, Advice.class})
    static class Filtered {

        @Bean
        AttributeFilter attributeFilter() {
            return new AttributeFilter();
        }

        /** Tries a handler again, outside of the gate. */
        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor retryAdvisor() {
            NameMatchMethodPointcutAdvisor advisor =
                    new NameMatchMethodPointcutAdvisor((MethodInterceptor) invocation -> {
                        try {
                            return ((ProxyMethodInvocation) invocation)
                                    .invocableClone()
                                    .proceed();
                        } catch (IllegalStateException e) {
                            return invocation.proceed();
                        }
                    });
            advisor.setMappedName("retried");
            advisor.setOrder(0);
            return advisor;
        }

        @Bean
        FilterRegistrationBean<HiddenHttpMethodFilter> hiddenMethod() {
            FilterRegistrationBean<HiddenHttpMethodFilter> registration =
                    new FilterRegistrationBean<>(new HiddenHttpMethodFilter());
            registration.setOrder(-10000);
            return registration;
        }
    }
}
