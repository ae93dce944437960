package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Idempotent;
import io.idempotency.Toggle;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseBody;

/** Case 116: the filter takes part once in a request, however often it is registered and whatever is dispatched. */
class OnceHttpTests {

    private static TestServer server;

    private final String key = TestServer.newKey();

    @BeforeAll
    static void start() {
        server = TestServer.start(Twice.class);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** Case 116. */
    @ParameterizedTest
    @CsvSource({
        "/once/plain, 200, complete",
        "/once/forward, 200, complete",
        "/once/include, 200, complete",
        "/once/error, 422, complete",
        "/once/failure, 500, release"
    })
    void claimsOnceAndEndsOnce(String path, int status, String end) {
        HookedStore store = server.bean(HookedStore.class);
        store.drain();

        Answer answer = server.post(path, key, "{}");
        List<String> calls = new ArrayList<>(store.drain());

        assertThat(answer.status()).isEqualTo(status);
        assertThat(calls).containsExactly("tryClaim", end);
    }

    /** Case 116: an ASYNC dispatch of a handler that is not idempotent passes. */
    @Test
    void leavesAsynchronousHandlersAlone() {
        HookedStore store = server.bean(HookedStore.class);
        store.drain();

        Answer answer = server.post("/once/async", key, "{}");

        assertThat(answer.text()).isEqualTo("later");
        assertThat(store.drain()).isEmpty();
    }

    @Test
    void passesAnOptionalHandlerWithoutAKeyThroughBothRegistrations() {
        assertThat(server.post("/once/optional", null, "{}").text()).isEqualTo("optional");
    }

    @Controller
    @RequestMapping("/once")
    static class OnceHandlers {

        @PostMapping("/plain")
        @ResponseBody
        @Idempotent
        String plain() {
            return "plain";
        }

        @PostMapping("/forward")
        @Idempotent
        String forward() {
            return "forward:/once/target";
        }

        @PostMapping("/include")
        @Idempotent
        void include(HttpServletRequest request, jakarta.servlet.http.HttpServletResponse response) throws Exception {
            request.getRequestDispatcher("/once/target").include(request, response);
        }

        @PostMapping("/target")
        @ResponseBody
        String target() {
            return "target";
        }

        @PostMapping("/error")
        @Idempotent
        void error(jakarta.servlet.http.HttpServletResponse response) throws Exception {
            response.sendError(422);
        }

        @PostMapping("/failure")
        @Idempotent
        void failure() {
            throw new IllegalStateException("unhandled");
        }

        @PostMapping("/async")
        @ResponseBody
        Callable<String> async() {
            return () -> "later";
        }

        @PostMapping("/optional")
        @ResponseBody
        @Idempotent(required = Toggle.OFF)
        String optional(@RequestHeader(name = "Idempotency-Key", required = false) String key) {
            return "optional";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({LibraryConfiguration.class, Servers.InMemory.class, OnceHandlers.class})
    static class Twice {

        @Bean
        FilterRegistrationBean<jakarta.servlet.Filter> again(FilterRegistrationBean<IdempotencyFilter> first) {
            IdempotencyFilter filter = first.getFilter();
            FilterRegistrationBean<jakarta.servlet.Filter> second = new FilterRegistrationBean<>(filter::doFilter);
            second.setName("again");
            second.setOrder(100);
            second.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
            return second;
        }
    }
}
