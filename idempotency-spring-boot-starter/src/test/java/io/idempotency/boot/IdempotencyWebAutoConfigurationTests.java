package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.put;

import io.idempotency.IdempotencyTemplate;
import io.idempotency.Idempotent;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.spi.OutcomePolicy.Disposition;
import io.idempotency.spring.web.IdempotencyFilter;
import io.idempotency.spring.web.IdempotencyGateAdvisor;
import io.idempotency.spring.web.IdempotencyOpenApiCustomizer;
import io.idempotency.spring.web.ReplayExceptionResolver;
import io.idempotency.spring.web.StatusPolicy;
import jakarta.servlet.DispatcherType;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.framework.autoproxy.InfrastructureAdvisorAutoProxyCreator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.security.web.DefaultSecurityFilterChain;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.util.matcher.AnyRequestMatcher;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

@ExtendWith(OutputCaptureExtension.class)
class IdempotencyWebAutoConfigurationTests {

    private static final AutoConfigurations AUTO_CONFIGURATIONS = AutoConfigurations.of(
            AopAutoConfiguration.class,
            IdempotencyAutoConfiguration.class,
            IdempotencyInMemoryAutoConfiguration.class,
            IdempotencyWebAutoConfiguration.class);

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AUTO_CONFIGURATIONS)
            .withUserConfiguration(Mvc.class)
            .withPropertyValues("idempotency.store=in-memory");

    @Nested
    class Registers {

        @Test
        void theFilterBehindSpringSecurity() {
            runner.run(context -> {
                FilterRegistrationBean<?> registration = registration(context);
                assertThat(registration.getFilter()).isInstanceOf(IdempotencyFilter.class);
                assertThat(registration.getOrder()).isEqualTo(-90).isEqualTo(IdempotencyFilter.DEFAULT_ORDER);
                assertThat(registration.determineDispatcherTypes())
                        .containsExactlyInAnyOrder(DispatcherType.REQUEST, DispatcherType.ASYNC);
                assertThat(registration.isAsyncSupported()).isTrue();
                assertThat(registration.getUrlPatterns()).isEmpty();
                assertThat(context)
                        .hasSingleBean(IdempotencyGateAdvisor.class)
                        .hasSingleBean(ReplayExceptionResolver.class);
            });
        }

        @Test
        void theFilterWhereItIsConfigured() {
            runner.withPropertyValues("idempotency.web.order=7")
                    .run(context -> assertThat(registration(context).getOrder()).isEqualTo(7));
        }

        @Test
        void nothingWhereTheWebIsNotProtected() {
            runner.withPropertyValues("idempotency.web.enabled=false")
                    .run(context -> assertThat(context)
                            .hasNotFailed()
                            .hasSingleBean(IdempotencyTemplate.class)
                            .doesNotHaveBean(FilterRegistrationBean.class)
                            .doesNotHaveBean(IdempotencyGateAdvisor.class));
        }

        @Test
        void nothingWhereTheLibraryIsDisabled() {
            runner.withPropertyValues("idempotency.enabled=false")
                    .run(context -> assertThat(context)
                            .hasNotFailed()
                            .doesNotHaveBean(FilterRegistrationBean.class)
                            .doesNotHaveBean(IdempotencyGateAdvisor.class));
        }

        @Test
        void noFilterBesideOneOfTheApplication() {
            runner.withUserConfiguration(OwnFilter.class)
                    .run(context -> assertThat(context)
                            .hasSingleBean(FilterRegistrationBean.class)
                            .hasBean("own"));
        }
    }

    @Nested
    class DescribesOpenApi {

        private final WebApplicationContextRunner documented =
                runner.withConfiguration(AutoConfigurations.of(IdempotencyOpenApiAutoConfiguration.class));

        @Test
        void whereSpringdocIsThere() {
            documented.run(context -> assertThat(context).hasSingleBean(IdempotencyOpenApiCustomizer.class));
        }

        @Test
        void notWithoutSpringdocOrWhereTheWebIsNotProtected() {
            documented
                    .withClassLoader(new FilteredClassLoader("org.springdoc", "io.swagger"))
                    .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("idempotencyOpenApiCustomizer"));
            documented
                    .withPropertyValues("idempotency.web.enabled=false")
                    .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("idempotencyOpenApiCustomizer"));
        }
    }

    /** Case 146. */
    @Nested
    class IsNotMissed {

        private final ApplicationContextRunner worker = new ApplicationContextRunner()
                .withConfiguration(AUTO_CONFIGURATIONS)
                .withPropertyValues("idempotency.store=in-memory");

        @Test
        void withoutTheServletApi() {
            worker.withClassLoader(new FilteredClassLoader("jakarta.servlet")).run(this::works);
        }

        @Test
        void withoutSpringMvc() {
            worker.withClassLoader(new FilteredClassLoader("org.springframework.web"))
                    .run(this::works);
        }

        @Test
        void withoutAWebServer() {
            worker.run(this::works);
        }

        @Test
        void inAReactiveApplication() {
            new ReactiveWebApplicationContextRunner()
                    .withConfiguration(AUTO_CONFIGURATIONS)
                    .withPropertyValues("idempotency.store=in-memory")
                    .run(context -> assertThat(context)
                            .hasNotFailed()
                            .hasSingleBean(IdempotencyTemplate.class)
                            .doesNotHaveBean(FilterRegistrationBean.class));
        }

        @Test
        void inAReactiveApplicationWithAnAnnotatedControllerWhichIsRefused() {
            new ReactiveWebApplicationContextRunner()
                    .withConfiguration(AUTO_CONFIGURATIONS)
                    .withPropertyValues("idempotency.store=in-memory")
                    .withBean(Payments.class)
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .contains(Payments.class.getName() + ".pay", "no servlet-based Spring MVC"));
        }

        @Test
        void withoutSpringSecurity() {
            runner.withClassLoader(new FilteredClassLoader("org.springframework.security"))
                    .withBean(Payments.class)
                    .run(context -> {
                        call(context, request("k"));
                        assertReplayed(call(context, request("k")));
                    });
        }

        @Test
        void withoutJackson() {
            runner.withClassLoader(new FilteredClassLoader("com.fasterxml.jackson", "tools.jackson"))
                    .withBean(Payments.class)
                    .run(context -> {
                        call(context, request("k"));
                        assertReplayed(call(context, request("k")));
                    });
        }

        @Test
        void withoutAspectJsWeaver() {
            runner.withClassLoader(new FilteredClassLoader("org.aspectj"))
                    .withBean(Payments.class)
                    .run(context -> {
                        assertThat(context).hasSingleBean(InfrastructureAdvisorAutoProxyCreator.class);
                        call(context, request("k"));
                        assertReplayed(call(context, request("k")));
                    });
        }

        private void works(org.springframework.boot.test.context.assertj.AssertableApplicationContext context) {
            assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(IdempotencyTemplate.class)
                    .doesNotHaveBean("idempotencyFilter");
        }
    }

    @Nested
    class Configures {

        @Test
        void theHeaderOfTheKey() {
            with("idempotency.web.header=X-Request-Id", context -> {
                call(context, post("/payments").content("{}").header("X-Request-Id", "k"));
                assertReplayed(call(context, post("/payments").content("{}").header("X-Request-Id", "k")));
            });
        }

        @Test
        void whetherAKeyIsRequired() {
            with(
                    "idempotency.web.required=true",
                    context -> assertThat(call(context, post("/payments").content("{}"))
                                    .getStatus())
                            .isEqualTo(400));
            with(
                    "idempotency.web.required=false",
                    context -> assertThat(call(context, post("/payments").content("{}"))
                                    .getStatus())
                            .isEqualTo(201));
        }

        @Test
        void howPayloadsAreCompared() {
            with("idempotency.web.fingerprint-scheme=json", context -> {
                call(context, json("{\"a\":1,\"b\":2}"));
                assertReplayed(call(context, json("{ \"b\": 2, \"a\": 1 }")));
            });
            with("idempotency.web.fingerprint-scheme=none", context -> {
                call(context, json("{\"a\":1}"));
                assertReplayed(call(context, json("{\"a\":2}")));
            });
            with("idempotency.web.fingerprint-scheme=raw", context -> {
                call(context, json("{\"a\":1}"));
                assertThat(call(context, json("{\"a\": 1}")).getStatus()).isEqualTo(422);
            });
        }

        @Test
        void theLargestRequest() {
            with(
                    "idempotency.web.max-request-size=4B",
                    context -> assertThat(call(context, json("{\"a\":1}")).getStatus())
                            .isEqualTo(413));
        }

        @Test
        void theLargestStoredResponse() {
            with("idempotency.web.max-response-size=2B", context -> {
                assertThat(call(context, request("k")).getStatus()).isEqualTo(201);
                assertThat(call(context, request("k")).getStatus()).isEqualTo(409);
            });
        }

        @Test
        void theHeaderThatMarksAReplay() {
            with("idempotency.web.replayed-header=X-Replayed", context -> {
                call(context, request("k"));
                assertThat(call(context, request("k")).getHeader("X-Replayed")).isEqualTo("true");
            });
        }

        @Test
        void furtherHeadersThatAreReplayed() {
            with("idempotency.web.replay-headers=X-Own", context -> {
                call(context, request("k"));
                assertThat(call(context, request("k")).getHeader("X-Own")).isEqualTo("kept");
            });
            with("idempotency.web.replay-headers=", context -> {
                call(context, request("k"));
                assertThat(call(context, request("k")).getHeader("X-Own")).isNull();
            });
        }

        @Test
        void noHeaderThatMustNotBeReplayed() {
            runner.withPropertyValues("idempotency.web.replay-headers=X-Own,Set-Cookie")
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .startsWith("idempotency.web.replay-headers is 'X-Own,Set-Cookie' and cannot be used")
                            .contains("Set-Cookie"));
        }

        @Test
        void theTypesOfProblems() {
            with(
                    "idempotency.web.problem-type-base=https://example.com/",
                    context -> assertThat(call(context, post("/payments").content("{}"))
                                    .getContentAsString())
                            .contains("\"https://example.com/key-missing\""));
        }

        @Test
        void theScopeThatTheApplicationAdds() {
            AtomicInteger tenant = new AtomicInteger();
            runner.withBean(Payments.class)
                    .withBean(KeyScopeResolver.class, () -> operation -> "tenant-" + tenant.get())
                    .run(context -> {
                        call(context, request("k"));
                        tenant.incrementAndGet();
                        assertThat(call(context, request("k")).getHeader("Idempotent-Replayed"))
                                .isNull();
                    });
        }

        @Test
        void theStatusPolicyOfTheApplication() {
            runner.withBean(Payments.class)
                    .withBean(StatusPolicy.class, () -> (status, guarantee) -> Disposition.RELEASE)
                    .run(context -> {
                        call(context, request("k"));
                        assertThat(call(context, request("k")).getHeader("Idempotent-Replayed"))
                                .isNull();
                    });
        }
    }

    @Nested
    class Anonymous {

        @Test
        void callersShareOneKeySpaceWithoutSpringSecurity(CapturedOutput output) {
            runner.withBean(Payments.class).run(context -> {
                assertThat(call(context, request("k")).getStatus()).isEqualTo(201);
                assertThat(output).containsOnlyOnce("all callers of an operation share one key space");
            });
        }

        @Test
        void callersAreNotTalkedAboutWhereNothingIsIdempotent(CapturedOutput output) {
            runner.run(context -> assertThat(output).doesNotContain("share one key space"));
        }

        @Test
        void callersAreRefusedWithSpringSecurity(CapturedOutput output) {
            runner.withBean(Payments.class).withUserConfiguration(Secured.class).run(context -> {
                assertThat(call(context, request("k")).getContentAsString()).contains("caller-unknown");
                assertThat(output).doesNotContain("share one key space");
            });
        }

        @Test
        void callersShareOneKeySpaceWhereThatIsAskedFor(CapturedOutput output) {
            runner.withBean(Payments.class)
                    .withUserConfiguration(Secured.class)
                    .withPropertyValues("idempotency.web.anonymous=share")
                    .run(context -> {
                        assertThat(call(context, request("k")).getStatus()).isEqualTo(201);
                        assertThat(output).doesNotContain("share one key space");
                    });
        }

        @Test
        void callersAreRefusedWhereThatIsAskedFor() {
            runner.withBean(Payments.class)
                    .withPropertyValues("idempotency.web.anonymous=refuse")
                    .run(context -> assertThat(call(context, request("k")).getContentAsString())
                            .contains("caller-unknown"));
        }

        @Test
        void callersAreNotJudgedBeforeSpringSecurity() {
            runner.withUserConfiguration(Secured.class)
                    .withPropertyValues("idempotency.web.order=-100")
                    .run(context -> {
                        FailureAnalysis analysis = StartupFailures.analysisOf(context);
                        assertThat(analysis.getDescription())
                                .isEqualTo("idempotency.web.order is '-100' and is not behind Spring Security, whose"
                                        + " filters have the order -100.");
                    });
            runner.withUserConfiguration(Secured.class)
                    .withPropertyValues("spring.security.filter.order=10")
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .startsWith("idempotency.web.order is '-90'"));
        }
    }

    @Nested
    class RefusesToStart {

        @Test
        void withHandlersThatAreNotSupportedAndNamesEachOfThem() {
            runner.withBean(Unsupported.class).run(context -> {
                FailureAnalysis analysis = StartupFailures.analysisOf(context);
                assertThat(analysis.getDescription().lines())
                        .hasSize(2)
                        .anyMatch(line -> line.contains(".byOrder names a fingerprint by an expression"))
                        .anyMatch(line -> line.contains(".anything is mapped to every HTTP method"))
                        .allMatch(line -> line.endsWith("."));
                assertThat(analysis.getAction()).contains("Remove the attribute 'fingerprint'", "@PostMapping");
            });
        }
    }

    @Nested
    class Rules {

        private final WebApplicationContextRunner ruled = runner.withBean(Unannotated.class)
                .withPropertyValues(
                        "idempotency.web.rules[0].operation=imports",
                        "idempotency.web.rules[0].path=/imports/{id}",
                        "idempotency.operations.imports.retention=2h");

        @Test
        void protectWhatNobodyHasAnnotated(CapturedOutput output) {
            ruled.run(context -> {
                call(context, post("/imports/1").header("Idempotency-Key", "k"));
                assertReplayed(call(context, post("/imports/1").header("Idempotency-Key", "k")));
                assertThat(call(context, post("/imports/1")).getStatus()).isEqualTo(400);
                assertThat(call(context, put("/imports/1").header("Idempotency-Key", "k"))
                                .getHeader("Idempotent-Replayed"))
                        .isNull();
                assertThat(output).contains("imports: AT_LEAST_ONCE in in-memory", "retention 2h");
            });
        }

        @Test
        void obeyTheSettingsOfTheirOperation() {
            ruled.withPropertyValues("idempotency.operations.imports.required=false")
                    .run(context -> assertThat(call(context, post("/imports/1")).getStatus())
                            .isEqualTo(201));
            ruled.withPropertyValues("idempotency.operations.imports.mode=off").run(context -> {
                call(context, post("/imports/1").header("Idempotency-Key", "k"));
                assertThat(call(context, post("/imports/1").header("Idempotency-Key", "k"))
                                .getHeader("Idempotent-Replayed"))
                        .isNull();
            });
        }

        @Test
        void areRefusedByNameWhereTheyCannotBeUsed() {
            refused(
                    "idempotency.web.rules[0].operation=Not A Name",
                    "idempotency.web.rules[].operation is 'Not A Name'");
            refused("idempotency.web.rules[0].path=imports", "idempotency.web.rules[].path is 'imports'");
            refused("idempotency.web.rules[0].path=/imports/{id", "idempotency.web.rules[].path is '/imports/{id'");
            refused("idempotency.web.rules[0].methods=GET", "idempotency.web.rules[].methods is 'GET'");
        }

        private void refused(String property, String description) {
            ruled.withPropertyValues(property)
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .contains(description));
        }
    }

    @Test
    void tellsOfCorsThatKeepsTheKeyBack(CapturedOutput output) {
        runner.withBean(CrossOriginPayments.class)
                .run(context -> assertThat(output).contains("does not allow the request header Idempotency-Key"));
    }

    private void with(String property, ContextConsumer<AssertableWebApplicationContext> consumer) {
        runner.withBean(Payments.class).withPropertyValues(property).run(consumer);
    }

    private static FilterRegistrationBean<?> registration(AssertableWebApplicationContext context) {
        assertThat(context).hasNotFailed();
        return context.getBean(FilterRegistrationBean.class);
    }

    private static MockHttpServletRequestBuilder request(String key) {
        return post("/payments").content("{}").header("Idempotency-Key", key);
    }

    private static MockHttpServletRequestBuilder json(String body) {
        return post("/payments").contentType("application/json").content(body).header("Idempotency-Key", "k");
    }

    private static MockHttpServletResponse call(
            AssertableWebApplicationContext context, MockHttpServletRequestBuilder request) throws Exception {
        assertThat(context).hasNotFailed();
        MockMvc mvc = MockMvcBuilders.webAppContextSetup(context.getSourceApplicationContext())
                .addFilters(registration(context).getFilter())
                .build();
        return mvc.perform(request).andReturn().getResponse();
    }

    private static void assertReplayed(MockHttpServletResponse response) {
        assertThat(response.getStatus()).isEqualTo(201);
        assertThat(response.getHeader("Idempotent-Replayed")).isEqualTo("true");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    static class Mvc {}

    @Configuration(proxyBeanMethods = false)
    static class Secured {

        @Bean
        SecurityFilterChain securityFilterChain() {
            return new DefaultSecurityFilterChain(AnyRequestMatcher.INSTANCE);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnFilter {

        @Bean
        FilterRegistrationBean<IdempotencyFilter> own(
                io.idempotency.engine.IdempotencyEngine engine,
                io.idempotency.spring.aop.IdempotentMethods methods,
                org.springframework.beans.factory.ListableBeanFactory beanFactory) {
            return new FilterRegistrationBean<>(
                    IdempotencyFilter.on(engine, methods, beanFactory).build());
        }
    }

    @RestController
    public static class Payments {

        @PostMapping("/payments")
        @Idempotent
        public ResponseEntity<String> pay(@RequestBody String payment) {
            return ResponseEntity.status(201).header("X-Own", "kept").body("paid");
        }
    }

    @RestController
    public static class Unannotated {

        @RequestMapping("/imports/{id}")
        public ResponseEntity<String> any(@PathVariable String id) {
            return ResponseEntity.status(201).body(id);
        }
    }

    @RestController
    public static class Unsupported {

        @PostMapping("/later")
        @Idempotent
        public CompletableFuture<String> later() {
            return CompletableFuture.completedFuture("");
        }

        @PostMapping("/stream")
        @Idempotent
        public StreamingResponseBody stream() {
            return out -> {};
        }

        @PostMapping("/by-order")
        @Idempotent(fingerprint = "#order")
        public String byOrder(String order) {
            return order;
        }

        @RequestMapping("/anything")
        @Idempotent
        public String anything() {
            return "";
        }
    }

    @RestController
    @CrossOrigin(origins = "https://shop.example.com", allowedHeaders = "Content-Type")
    public static class CrossOriginPayments {

        @PostMapping("/payments")
        @Idempotent
        public String pay() {
            return "paid";
        }
    }
}
