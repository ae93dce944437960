package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Idempotent;
import io.idempotency.Toggle;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.autoproxy.InfrastructureAdvisorAutoProxyCreator;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.PathMatchConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.pattern.PathPatternParser;

/** Case 116: the filter takes part once in a request, however often it is registered and whatever is dispatched. */
class OnceHttpTests {

    @AutoClose
    private static final TestServer server = TestServer.start(Twice.class, "spring.aop.proxy-target-class=false");

    private final String key = TestServer.newKey();

    /** Case 116. */
    @ParameterizedTest
    @CsvSource({
        "/once/plain, 200, complete",
        "/once/forward, 200, complete",
        "/once/include, 200, complete",
        "/once/error, 422, complete",
        "/once/failure, 500, release",
        "/once/later, 200, complete",
        "/once/later-failure, 500, release"
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

    /** A handler that is proxied by its interface. */
    @Test
    void protectsAHandlerThatIsProxiedByItsInterface() {
        assertThat(Proxy.isProxyClass(server.bean(ByInterface.class).getClass()))
                .isTrue();
        HookedStore store = server.bean(HookedStore.class);
        store.drain();

        Answer first = server.post("/once/by-interface", key, "{}");
        Answer second = server.post("/once/by-interface", key, "{}");

        assertThat(first.text()).isEqualTo("by interface");
        assertThat(second.replayed()).isTrue();
        assertThat(store.drain()).containsExactly("tryClaim", "complete", "tryClaim");
        assertThat(server.post("/once/forward-by-interface", key, "{}").status())
                .isEqualTo(500);
    }

    /** Neither an ASYNC nor an ERROR dispatch is a request of its own; what it reaches is not half protected but refused. */
    @Test
    void refusesAnIdempotentHandlerThatAnAsyncDispatchReaches() {
        HookedStore store = server.bean(HookedStore.class);
        store.drain();

        Answer answer = server.post("/once/dispatching", key, "{}");

        assertThat(answer.status()).isEqualTo(500);
        assertThat(store.drain()).isEmpty();
    }

    /** A request that needs no key where it arrives is no way around the key of another handler. */
    @Test
    void refusesAnIdempotentHandlerThatAnUnprotectedOneForwardsTo() {
        HookedStore store = server.bean(HookedStore.class);
        store.drain();

        assertThat(server.post("/once/optional-forward", null, "{}").status()).isEqualTo(500);
        assertThat(store.drain()).isEmpty();
    }

    /** Nor is the key of the handler that the request was for. */
    @Test
    void refusesAnotherIdempotentHandlerThanTheOneThatTheRequestWasFor() {
        HookedStore store = server.bean(HookedStore.class);
        store.drain();

        Answer answer = server.post("/once/include", key, "{}", "X-Detour", "/once/plain");

        assertThat(answer.status()).isEqualTo(500);
        assertThat(store.drain()).containsExactly("tryClaim", "release");
    }

    /** A mapping that came after the first request: refused once, because the filter did not know it, and protected from then on. */
    @Test
    void protectsAHandlerThatWasMappedLaterFromItsSecondRequestOn() throws Exception {
        server.post("/once/plain", TestServer.newKey(), "{}");
        RequestMappingHandlerMapping mapping = server.bean(RequestMappingHandlerMapping.class);
        mapping.registerMapping(
                RequestMappingInfo.paths("/later/handler")
                        .methods(RequestMethod.POST)
                        .options(mapping.getBuilderConfiguration())
                        .build(),
                "lateHandler",
                LateHandler.class.getDeclaredMethod("handle"));

        assertThat(server.post("/later/handler", key, "{}").status()).isEqualTo(500);
        assertThat(server.post("/later/handler", key, "{}").text()).isEqualTo("late");
        assertThat(server.post("/later/handler", key, "{}").replayed()).isTrue();
    }

    /** What Spring MVC finds in other letters, the filter finds. */
    @Test
    void findsAHandlerAsTheApplicationReadsPaths() {
        Answer first = server.post("/ONCE/Plain", key, "{}");

        assertThat(first.text()).isEqualTo("plain");
        assertThat(server.post("/ONCE/Plain", key, "{}").replayed()).isTrue();
    }

    @Test
    void passesAnOptionalHandlerWithoutAKeyThroughBothRegistrations() {
        assertThat(server.post("/once/optional", null, "{}").text()).isEqualTo("optional");
    }

    @Controller
    static class LateHandler {

        @ResponseBody
        @Idempotent
        String handle() {
            return "late";
        }
    }

    @RestController
    interface ByInterface {

        @PostMapping("/once/by-interface")
        @Idempotent
        String handle();
    }

    static final class ByInterfaceHandler implements ByInterface {

        @Override
        public String handle() {
            return "by interface";
        }
    }

    @Controller
    @RequestMapping("/once")
    static class OnceHandlers {

        @PostMapping("/forward-by-interface")
        String forwardByInterface() {
            return "forward:/once/by-interface";
        }

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

        @PostMapping("/optional-forward")
        @Idempotent(required = Toggle.OFF)
        String optionalForward() {
            return "forward:/once/plain";
        }

        @PostMapping("/later")
        @ResponseBody
        @Idempotent
        Callable<String> later() {
            return () -> "later";
        }

        @PostMapping("/later-failure")
        @ResponseBody
        @Idempotent
        Callable<String> laterFailure() {
            return () -> {
                throw new IllegalStateException("unhandled");
            };
        }

        @PostMapping("/async")
        @ResponseBody
        Callable<String> async() {
            return () -> "later";
        }

        @PostMapping("/dispatching")
        @ResponseBody
        void dispatching(HttpServletRequest request) {
            request.startAsync().dispatch("/once/plain");
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
    static class Twice implements WebMvcConfigurer {

        @Override
        public void configurePathMatch(PathMatchConfigurer configurer) {
            PathPatternParser parser = new PathPatternParser();
            parser.setCaseSensitive(false);
            configurer.setPatternParser(parser);
        }

        @Bean
        LateHandler lateHandler() {
            return new LateHandler();
        }

        // With that setting and without AspectJ's weaver Boot registers none.
        @Bean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static InfrastructureAdvisorAutoProxyCreator proxiesByInterface() {
            return new InfrastructureAdvisorAutoProxyCreator();
        }

        /** Takes a request elsewhere, behind the library's filter. */
        @Bean
        FilterRegistrationBean<jakarta.servlet.Filter> detour() {
            FilterRegistrationBean<jakarta.servlet.Filter> detour =
                    new FilterRegistrationBean<>((request, response, chain) -> {
                        String to = ((HttpServletRequest) request).getHeader("X-Detour");
                        if (to == null) {
                            chain.doFilter(request, response);
                        } else {
                            request.getRequestDispatcher(to).forward(request, response);
                        }
                    });
            detour.setName("detour");
            detour.setOrder(200);
            detour.setDispatcherTypes(DispatcherType.REQUEST);
            return detour;
        }

        @Bean
        ByInterface byInterface() {
            return new ByInterfaceHandler();
        }

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
