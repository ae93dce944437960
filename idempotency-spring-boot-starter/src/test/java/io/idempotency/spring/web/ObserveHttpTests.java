package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyModes;
import io.idempotency.Idempotent;
import io.idempotency.Mode;
import io.idempotency.Toggle;
import io.idempotency.boot.IdempotencyAutoConfiguration;
import io.idempotency.boot.IdempotencyJdbcAutoConfiguration;
import io.idempotency.boot.IdempotencyMetricsAutoConfiguration;
import io.idempotency.boot.IdempotencyWebAutoConfiguration;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/** The mode {@code observe} changes no answer and tells what would have become of requests; modes are switched between requests. */
class ObserveHttpTests {

    @AutoClose
    private static final TestServer server = TestServer.start(
            Application.class,
            "idempotency.mode=observe",
            "idempotency.store=jdbc",
            "idempotency.web.max-request-size=64KB",
            "idempotency.web.rules[0].operation=imports",
            "idempotency.web.rules[0].path=/imports",
            "idempotency.operations.handlers-unwatched.mode=off");

    private static final IdempotencyModes modes = server.bean(IdempotencyModes.class);

    private final String key = TestServer.newKey();

    @AfterEach
    void observeAgain() {
        modes.all().keySet().forEach(modes::reset);
        modes.set(Mode.OBSERVE);
    }

    private Answer post(String path, String body, String... headers) {
        return server.post(path, key, body, headers);
    }

    private int effects() {
        return server.effects().of(key);
    }

    private static double observed(String operation, String outcome) {
        Counter counter = server.bean(MeterRegistry.class)
                .find("idempotency.observed")
                .tags("operation", operation, "outcome", outcome)
                .counter();
        return counter == null ? 0 : counter.count();
    }

    private static void counts(String operation, String outcome, double before) {
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(observed(operation, outcome)).isGreaterThanOrEqualTo(before + 1));
    }

    @Test
    void letsADuplicateRunAndCountsTheReplay() {
        Answer first = post("/observed/twice", "{}");
        // The answer is there before the observer has seen its end.
        counts("handlers-twice", "executed", 0);
        Answer second = post("/observed/twice", "{}");

        assertThat(first.text()).isEqualTo("run 1");
        assertThat(second.text()).isEqualTo("run 2");
        assertThat(first.headers().keySet()).doesNotContain("idempotent-replayed", "idempotency-expires");
        assertThat(second.headers().keySet()).isEqualTo(first.headers().keySet());
        counts("handlers-twice", "replayed", 0);
        assertThat(observed("handlers-twice", "executed")).isEqualTo(1);
        assertThat(observed("handlers-twice", "replayed")).isEqualTo(1);
        assertThat(server.bean(MeterRegistry.class)
                        .find("idempotency.requests")
                        .tag("operation", "handlers-twice")
                        .counters())
                .isEmpty();
    }

    @Test
    void answersAsWithoutTheLibrary() {
        for (String path : List.of("/observed/pay", "/observed/wrong", "/observed/fails", "/observed/later")) {
            Answer observed = post(path, "{\"a\":1}");
            modes.set(Mode.OFF);
            Answer off = server.post(path, TestServer.newKey(), "{\"a\":1}");
            modes.set(Mode.OBSERVE);

            assertThat(observed.status()).as(path).isEqualTo(off.status());
            assertThat(observed.headers().keySet())
                    .as(path)
                    .isEqualTo(off.headers().keySet());
            assertThat(observed.text().replaceAll("\\d{4}-\\d\\d-\\d\\dT[^\"]+|paid \\d", ""))
                    .as(path)
                    .isEqualTo(off.text().replaceAll("\\d{4}-\\d\\d-\\d\\dT[^\"]+|paid \\d", ""));
        }
    }

    @Test
    void countsWhatWouldBeRefusedAndRunsIt() {
        double missing = observed("handlers-pay", "key_missing");
        double invalid = observed("handlers-pay", "key_invalid");
        double reused = observed("handlers-pay", "key_reused");

        assertThat(server.post("/observed/pay", null, "{}").status()).isEqualTo(201);
        assertThat(server.post("/observed/pay", "a, b", "{}").status()).isEqualTo(201);
        post("/observed/pay", "{}");
        assertThat(post("/observed/pay", "{\"other\":1}").status()).isEqualTo(201);

        counts("handlers-pay", "key_missing", missing);
        counts("handlers-pay", "key_invalid", invalid);
        counts("handlers-pay", "key_reused", reused);
        assertThat(effects()).isEqualTo(2);
    }

    @Test
    void countsAConcurrentDuplicateAndRunsIt() {
        double inProgress = observed("handlers-pay", "in_progress");
        CompletableFuture<Answer> first;
        try (Effects.Stop stop = server.effects().stop(key)) {
            first = server.postLater("/observed/pay", key, "{}");
            stop.awaitArrival();
            assertThat(post("/observed/pay", "{}").status()).isEqualTo(201);
            counts("handlers-pay", "in_progress", inProgress);
        }
        assertThat(first.join().status()).isEqualTo(201);
    }

    @Test
    void forgetsWhatWouldNotHaveBeenStored() {
        double failed = observed("handlers-fails", "failed");
        double executed = observed("handlers-wrong", "executed");
        double unread = observed("handlers-pay", "failed");

        assertThat(post("/observed/fails", "{}").status()).isEqualTo(500);
        counts("handlers-fails", "failed", failed);
        assertThat(post("/observed/fails", "{}").status()).isEqualTo(500);
        counts("handlers-fails", "failed", failed + 1);
        assertThat(post("/observed/wrong", "{}").status()).isEqualTo(422);
        counts("handlers-wrong", "executed", executed);
        // Never reaches the method.
        assertThat(post("/observed/pay", "{").status()).isEqualTo(400);
        counts("handlers-pay", "failed", unread);
    }

    @Test
    void keepsAFailureThatWouldHaveBeenStored() {
        double executed = observed("handlers-declines", "executed");
        double replayed = observed("handlers-declines", "replayed");

        assertThat(post("/observed/declines", "{}").status()).isEqualTo(500);
        counts("handlers-declines", "executed", executed);
        assertThat(post("/observed/declines", "{}").status()).isEqualTo(500);
        counts("handlers-declines", "replayed", replayed);
    }

    @Test
    void passesOnABodyThatIsTooLargeWhateverItsFraming() throws IOException {
        double tooLarge = observed("handlers-size", "request_too_large");
        byte[] large = new byte[200_000];

        assertThat(server.send("POST", "/observed/size", key, large).text()).isEqualTo("200000");
        counts("handlers-size", "request_too_large", tooLarge);
        assertThat(chunked(large)).isEqualTo("200000");
        counts("handlers-size", "request_too_large", tooLarge + 1);
        assertThat(chunked(new byte[10])).isEqualTo("10");
    }

    private String chunked(byte[] body) throws IOException {
        return chunked("/observed/size", "application/octet-stream", body);
    }

    private String chunked(String path, String type, byte[] body) throws IOException {
        try (TestServer.Raw raw = server.raw()) {
            raw.write(("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: " + TestServer.newKey()
                            + "\r\nContent-Type: " + type + "\r\nTransfer-Encoding: chunked\r\n\r\n"
                            + Integer.toHexString(body.length) + "\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            raw.write(body);
            raw.write("\r\n0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            return raw.read().text();
        }
    }

    @Test
    void readsFormsWithoutTakingThemAway() {
        double replayed = observed("handlers-form", "replayed");
        for (int i = 0; i < 2; i++) {
            assertThat(post("/observed/form", "a=1&b=%C3%A9", "Content-Type", "application/x-www-form-urlencoded")
                            .text())
                    .isEqualTo("1é");
        }
        counts("handlers-form", "replayed", replayed);
    }

    @Test
    void passesOnAFloodOfFields() {
        passesOnTooLarge("a=1&b=%C3%A9" + "&x".repeat(10_000));
    }

    private void passesOnTooLarge(String form) {
        double tooLarge = observed("handlers-form", "request_too_large");
        assertThat(post("/observed/form", form, "Content-Type", "application/x-www-form-urlencoded")
                        .text())
                .isEqualTo("1é");
        counts("handlers-form", "request_too_large", tooLarge);
    }

    /** Nobody but the container can make parameters of such a form, and only of the whole. */
    @Test
    void leavesAFormOfUnknownLengthToTheContainer() throws IOException {
        String form = "a=1&b=%C3%A9&padding=" + "x".repeat(100_000);

        assertThat(chunked(
                        "/observed/form",
                        "application/x-www-form-urlencoded",
                        form.getBytes(StandardCharsets.US_ASCII)))
                .isEqualTo("1é");
    }

    @Test
    void passesOnAFormThatIsTooLarge() {
        passesOnTooLarge("a=1&b=%C3%A9&padding=" + "x".repeat(100_000));
    }

    /** The handler meets the end where it reads, as without the library. */
    @Test
    void passesOnABodyThatBreaksOff() throws IOException {
        Answer observed = brokenOff();
        modes.set(Mode.OFF);

        assertThat(observed.status()).isEqualTo(brokenOff().status()).isEqualTo(400);
    }

    private Answer brokenOff() throws IOException {
        try (TestServer.Raw raw = server.raw()) {
            raw.write(("POST /observed/size HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: " + TestServer.newKey()
                            + "\r\nContent-Type: application/octet-stream\r\nContent-Length: 1000\r\n\r\nbegun")
                    .getBytes(StandardCharsets.US_ASCII));
            raw.endOutput();
            return raw.read();
        }
    }

    /** A policy of the application that is not up to a status is asked for nothing but the count. */
    @Test
    void answersThoughTheStatusPolicyThrows() {
        double failed = observed("handlers-teapot", "failed");

        Answer answer = post("/observed/teapot", "{}");

        assertThat(answer.status()).isEqualTo(418);
        assertThat(answer.text()).isEqualTo("teapot");
        counts("handlers-teapot", "failed", failed);
    }

    /** An observed handler is no way around the key of an enforced one. */
    @Test
    void refusesAnEnforcedHandlerThatAnObservedOneForwardsTo() {
        assertThat(post("/observed/forward", "{}").status()).isEqualTo(201);
        modes.set("handlers-pay", Mode.ENFORCE);

        assertThat(post("/observed/forward", "{}").status()).isEqualTo(500);
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void waitsForAsynchronousAnswersAndHoldsBackNoStream() {
        double executed = observed("handlers-later", "executed");
        double replayed = observed("handlers-later", "replayed");
        double streamed = observed("handlers-stream", "executed");

        assertThat(post("/observed/later", "{}").text()).isEqualTo("later");
        counts("handlers-later", "executed", executed);
        assertThat(post("/observed/later", "{}").text()).isEqualTo("later");
        counts("handlers-later", "replayed", replayed);
        assertThat(post("/observed/stream", "{}").text()).isEqualTo("streamed");
        counts("handlers-stream", "executed", streamed);
        assertThat(post("/observed/later-fails", "{}").status()).isEqualTo(500);
        counts("handlers-later-fails", "failed", 0);
    }

    @Test
    void observesKeysOfArgumentsAndRulesByPath() {
        double placed = observed("handlers-place", "executed");
        double imported = observed("imports", "executed");
        double business = observed("handlers-place", "replayed");
        double byRule = observed("imports", "replayed");
        String order = "{\"number\":\"" + key + "\"}";

        assertThat(server.post("/observed/place", null, order).status()).isEqualTo(200);
        counts("handlers-place", "executed", placed);
        assertThat(server.post("/observed/place", null, order).status()).isEqualTo(200);
        assertThat(post("/imports", "{}").status()).isEqualTo(202);
        counts("imports", "executed", imported);
        assertThat(post("/imports", "{}").status()).isEqualTo(202);

        counts("handlers-place", "replayed", business);
        counts("imports", "replayed", byRule);
        assertThat(server.effects().of("imports " + key)).isEqualTo(2);
    }

    @Test
    void dependsOnNoStore() {
        JdbcTemplate jdbc = new JdbcTemplate(server.bean(DataSource.class));
        jdbc.execute("alter table idempotency_record rename to away");
        try {
            assertThat(post("/observed/pay", "{}").status()).isEqualTo(201);
            assertThat(post("/observed/pay", "{}").status()).isEqualTo(201);
            // Until the observer has met that, too.
            double missing = observed("handlers-pay", "key_missing");
            server.post("/observed/pay", null, "{}");
            counts("handlers-pay", "key_missing", missing);
        } finally {
            jdbc.execute("alter table away rename to idempotency_record");
        }
    }

    @Test
    void enforcesFromTheNextRequestOn() {
        modes.set("handlers-pay", Mode.ENFORCE);
        Answer first = post("/observed/pay", "{}");
        Answer retry = post("/observed/pay", "{}");
        modes.set("handlers-pay", Mode.OBSERVE);
        double replayed = observed("handlers-pay", "replayed");
        Answer observed = post("/observed/pay", "{}");
        modes.reset("handlers-pay");
        modes.set(Mode.ENFORCE);
        Answer enforced = post("/observed/pay", "{}");

        assertThat(first.text()).isEqualTo("paid 1");
        assertThat(retry.replayed()).isTrue();
        assertThat(observed.text()).isEqualTo("paid 2");
        counts("handlers-pay", "replayed", replayed);
        assertThat(enforced.replayed()).isTrue();
        assertThat(enforced.text())
                .as("the first result, whatever was observed since")
                .isEqualTo("paid 1");
    }

    /** A request keeps the mode with which it began: claimed and stored, or neither. */
    @Test
    void finishesInTheModeInWhichItBegan() {
        modes.set(Mode.ENFORCE);
        CompletableFuture<Answer> enforced;
        try (Effects.Stop stop = server.effects().stop(key)) {
            enforced = server.postLater("/observed/pay", key, "{}");
            stop.awaitArrival();
            modes.set(Mode.OBSERVE);
            assertThat(post("/observed/pay", "{}").text()).isEqualTo("paid 2");
        }
        assertThat(enforced.join().text()).isEqualTo("paid 1");
        modes.set(Mode.ENFORCE);
        assertThat(post("/observed/pay", "{}").text()).isEqualTo("paid 1");

        String other = TestServer.newKey();
        modes.set(Mode.OBSERVE);
        CompletableFuture<Answer> observed;
        try (Effects.Stop stop = server.effects().stop(other)) {
            observed = server.postLater("/observed/pay", other, "{}");
            stop.awaitArrival();
            modes.set(Mode.ENFORCE);
            assertThat(server.post("/observed/pay", other, "{}").text()).isEqualTo("paid 2");
        }
        assertThat(observed.join().text()).isEqualTo("paid 1");
        assertThat(server.post("/observed/pay", other, "{}").replayed()).isTrue();
        assertThat(server.effects().of(other)).isEqualTo(2);
    }

    @Test
    void finishesInItsModeOverDispatches() {
        for (Mode began : List.of(Mode.OBSERVE, Mode.OFF)) {
            String other = TestServer.newKey();
            modes.set(began);
            CompletableFuture<Answer> answer;
            try (Effects.Stop stop = server.effects().stop(other)) {
                answer = server.postLater("/observed/redispatch", other, "{}");
                stop.awaitArrival();
                modes.set(Mode.ENFORCE);
            }
            assertThat(answer.join().text()).as(began.name()).isEqualTo("dispatched");
        }
    }

    @Test
    void mixesNoModesWhileTheyAreSwitched() {
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Void> switching = CompletableFuture.runAsync(() -> {
            for (int i = 0; !done.get(); i++) {
                modes.set(Mode.values()[i % Mode.values().length]);
            }
        });
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        try {
            for (int i = 0; i < 150; i++) {
                answers.add(
                        server.postLater(i % 2 == 0 ? "/observed/pay" : "/observed/later", TestServer.newKey(), "{}"));
                if (i % 10 == 9) {
                    answers.get(i).join();
                }
            }
            assertThat(answers)
                    .allSatisfy(answer -> assertThat(answer.join().status()).isBetween(200, 201));
        } finally {
            done.set(true);
            switching.join();
        }
    }

    @Test
    void leavesAloneWhatIsOff() {
        assertThat(modes.of("handlers-unwatched")).isEqualTo(Mode.OFF);
        assertThat(post("/observed/unwatched", "{}").text()).isEqualTo("unwatched");
        assertThat(post("/observed/unwatched", "{}").text()).isEqualTo("unwatched");
        assertThat(effects()).isEqualTo(2);
        assertThatIllegalStateException()
                .isThrownBy(() -> modes.set("handlers-unwatched", Mode.ENFORCE))
                .withMessageContaining("off at start");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> modes.set("handlers-pya", Mode.ENFORCE))
                .withMessageContaining("handlers-pay");
        modes.set("handlers-pay", Mode.OFF);
        double replayed = observed("handlers-pay", "replayed");
        assertThat(post("/observed/pay", "{}").status()).isEqualTo(201);
        assertThat(post("/observed/pay", "{}").replayed()).isFalse();
        assertThat(effects()).isEqualTo(4);
        assertThat(observed("handlers-pay", "replayed")).isEqualTo(replayed);
    }

    record Order(String number) {}

    @RestController
    static class Handlers {

        private final Effects effects;

        Handlers(Effects effects) {
            this.effects = effects;
        }

        @PostMapping("/observed/pay")
        @Idempotent
        ResponseEntity<String> pay(
                @RequestBody Map<String, Object> body,
                @RequestHeader(name = "Idempotency-Key", required = false) String key) {
            int run = effects.add(String.valueOf(key));
            effects.passStop(String.valueOf(key));
            return ResponseEntity.created(URI.create("/payments/1")).body("paid " + run);
        }

        @PostMapping("/observed/twice")
        @Idempotent
        String twice(@RequestHeader("Idempotency-Key") String key) {
            return "run " + effects.add(key);
        }

        @PostMapping("/observed/wrong")
        @Idempotent
        ResponseEntity<String> wrong() {
            return ResponseEntity.unprocessableEntity().body("wrong");
        }

        @PostMapping("/observed/fails")
        @Idempotent
        String fails() {
            throw new IllegalStateException("broken");
        }

        @PostMapping("/observed/declines")
        @Idempotent(storeFailures = IllegalStateException.class)
        String declines() {
            throw new IllegalStateException("declined");
        }

        @PostMapping("/observed/size")
        @Idempotent
        String size(@RequestBody byte[] body) {
            return String.valueOf(body.length);
        }

        @PostMapping("/observed/form")
        @Idempotent
        String form(String a, String b) {
            return a + b;
        }

        @PostMapping("/observed/teapot")
        @Idempotent
        ResponseEntity<String> teapot() {
            return ResponseEntity.status(418).body("teapot");
        }

        @PostMapping("/observed/forward")
        @Idempotent
        ModelAndView forward() {
            return new ModelAndView("forward:/observed/pay");
        }

        @PostMapping("/observed/later")
        @Idempotent
        Callable<String> later() {
            return () -> "later";
        }

        @PostMapping("/observed/later-fails")
        @Idempotent
        Callable<String> laterFails() {
            return () -> {
                throw new IllegalStateException("broken");
            };
        }

        @PostMapping("/observed/stream")
        @Idempotent
        StreamingResponseBody stream() {
            return out -> out.write("streamed".getBytes(StandardCharsets.UTF_8));
        }

        @PostMapping("/observed/redispatch")
        @Idempotent
        void redispatch(
                @RequestHeader("Idempotency-Key") String key, HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                response.getWriter().write("dispatched");
                return;
            }
            AsyncContext context = request.startAsync();
            new Thread(() -> {
                        effects.passStop(key);
                        context.dispatch();
                    })
                    .start();
        }

        @PostMapping("/observed/place")
        @Idempotent(key = "#order.number", required = Toggle.ON, guarantee = Guarantee.AT_LEAST_ONCE)
        String place(@RequestBody Order order) {
            return order.number();
        }

        @PostMapping("/observed/unwatched")
        @Idempotent
        void unwatched(@RequestHeader("Idempotency-Key") String key, HttpServletResponse response) throws IOException {
            effects.add(key);
            response.getWriter().write("unwatched");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({WebConfiguration.class, Handlers.class})
    @ImportAutoConfiguration({
        IdempotencyJdbcAutoConfiguration.class,
        IdempotencyMetricsAutoConfiguration.class,
        IdempotencyAutoConfiguration.class,
        IdempotencyWebAutoConfiguration.class
    })
    static class Application {

        @Bean
        StatusPolicy statusPolicy() {
            return (status, guarantee) -> {
                if (status == 418) {
                    throw new IllegalStateException("no idea");
                }
                return StatusPolicy.standard().onStatus(status, guarantee);
            };
        }

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean
        DataSource dataSource() {
            return ExactlyOnceConfiguration.h2();
        }

        @Bean
        PlatformTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        RouterFunction<ServerResponse> imports(Effects effects) {
            return RouterFunctions.route()
                    .POST("/imports", request -> {
                        effects.add("imports " + request.headers().firstHeader("Idempotency-Key"));
                        return ServerResponse.accepted().build();
                    })
                    .build();
        }
    }
}
