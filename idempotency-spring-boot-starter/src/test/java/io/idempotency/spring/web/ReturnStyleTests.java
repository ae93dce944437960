package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.OperationSettings;
import io.idempotency.jdbc.JdbcIdempotencyStore;
import io.idempotency.jdbc.SpringBusinessTransactions;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.util.unit.DataSize;
import org.springframework.web.util.pattern.PathPatternParser;

/** Every way to answer, on both servers, under both kinds of guarantees. Cases 112, 109, 100 and 115. */
class ReturnStyleTests {

    private static final Map<Container, TestServer> SERVERS = new EnumMap<>(Container.class);

    private final String key = TestServer.newKey();

    @AfterAll
    static void stop() {
        SERVERS.values().forEach(TestServer::close);
        SERVERS.clear();
    }

    static Stream<Cell> cells() {
        return Arrays.stream(Container.values()).flatMap(ReturnStyleTests::cells);
    }

    private static Stream<Cell> cells(Container container) {
        return Stream.concat(
                Arrays.stream(Style.values()).map(style -> new Cell(container, "leased", style)),
                Arrays.stream(Style.values())
                        .filter(style -> style.synchronous)
                        .map(style -> new Cell(container, "transactional", style)));
    }

    /** Case 112. */
    @ParameterizedTest
    @MethodSource("cells")
    void runsOnceAndReplays(Cell cell) {
        Answer first = cell.post(key, false);
        Answer second = cell.post(key, false);

        cell.assertFirst(first);
        cell.assertDuplicate(second, first);
        assertThat(cell.effects().of(key)).isEqualTo(1);
        cell.assertCommitted(key, 1);
    }

    /** Cases 100 and 112. */
    @ParameterizedTest
    @MethodSource("cells")
    void refusesADuplicateWhileTheFirstRuns(Cell cell) {
        CompletableFuture<Answer> first;
        Answer during;
        try (Effects.Stop stop = cell.effects().stop(key)) {
            first = cell.postLater(key, false);
            stop.awaitArrival();
            // The work of a stream may begin a moment before its first byte.
            during = cell.style.streaming
                    ? await().atMost(Duration.ofSeconds(30))
                            .until(() -> cell.post(key, false), answer -> !"in-progress".equals(answer.problem()))
                    : cell.post(key, false);
        }
        Answer done = first.join();
        Answer after = cell.post(key, false);

        assertThat(during.status()).isEqualTo(409);
        assertThat(during.problem()).isEqualTo(cell.style.streaming ? "result-not-replayable" : "in-progress");
        cell.assertFirst(done);
        cell.assertDuplicate(after, done);
        assertThat(cell.effects().of(key)).isEqualTo(1);
        cell.assertCommitted(key, 1);
    }

    /** What failed is free for a retry at once; of a stream nobody knows how much has arrived. */
    @ParameterizedTest
    @MethodSource("cells")
    void runsAgainAfterAFailure(Cell cell) {
        Answer first = cell.style.streaming ? null : cell.post(key, true);
        if (first == null) {
            cell.postLater(key, true).exceptionally(cut -> null).join();
        }
        Answer retry = cell.post(key, false);

        if (cell.style.streaming) {
            assertThat(retry.problem()).isEqualTo("result-not-replayable");
            assertThat(cell.effects().of(key)).isEqualTo(1);
        } else {
            assertThat(first.status()).isEqualTo(500);
            cell.assertFirst(retry);
            assertThat(cell.effects().of(key)).isEqualTo(2);
            cell.assertCommitted(key, cell.isTransactional() ? 1 : 2);
        }
    }

    @ParameterizedTest
    @MethodSource("cells")
    void keepsTheResultForAClientThatHasGone(Cell cell) throws Exception {
        try (Effects.Stop stop = cell.effects().stop(key);
                TestServer.Raw raw = cell.server().raw()) {
            raw.write(TestServer.Raw.request(
                    cell.path(), "{}", "Idempotency-Key: " + key, "Content-Type: application/json", "X-Fail: false"));
            stop.awaitArrival();
            raw.abort();
        }
        // The threads of streaming handlers hear that nobody reads them.
        Answer retry = await().dontCatchUncaughtExceptions()
                .atMost(Duration.ofSeconds(60))
                .until(() -> cell.post(key, false), answer -> !"in-progress".equals(answer.problem()));

        cell.assertDuplicate(retry, null);
        assertThat(cell.effects().of(key)).isEqualTo(1);
        cell.assertCommitted(key, 1);
    }

    static Stream<Arguments> undeclared() {
        return Arrays.stream(Container.values())
                .flatMap(container -> Stream.of("callable", "start").map(how -> Arguments.of(container, how)));
    }

    /** What a method declares is refused at start; what only shows when it runs is undone, and a retry is free to run. */
    @ParameterizedTest
    @MethodSource("undeclared")
    void undoesWhatWouldEndOnAnotherThreadUnderExactlyOnce(Container container, String how) {
        TestServer server = server(container);
        for (int run = 1; run <= 2; run++) {
            Answer answer = server.post("/transactional/undeclared-" + how, key, "{}");

            assertThat(answer.status()).isEqualTo(500);
            assertThat(answer.json().get("detail").asText()).contains("EXACTLY_ONCE", "AT_LEAST_ONCE");
            assertThat(server.effects().of(key)).isEqualTo(run);
            assertThat(server.bean(StyleHandlers.Work.class).rows(key)).isZero();
        }
    }

    /** The attempt is known wherever the library or Spring MVC starts the thread. */
    @ParameterizedTest
    @MethodSource("cells")
    void knowsItsAttemptOnOtherThreads(Cell cell) {
        cell.post(key, false);

        assertThat(cell.effects().of("context of " + key))
                .isEqualTo(List.of(Style.CALLABLE, Style.RAW_DISPATCH).contains(cell.style) ? 1 : 0);
    }

    enum Style {
        BODY(true, 200),
        ENTITY(true, 201),
        SERVLET(true, 200),
        VIEW(true, 200),
        RESOURCE(true, 200),
        LARGE_RESOURCE(true, 200),
        SEND_ERROR(true, 404),
        REDIRECT(true, 302),
        ADVISED(true, 402),
        BY_RULE_FUNCTIONAL(true, 201),
        BY_RULE_CONTROLLER(true, 200),
        BY_RULE_HANDLER(true, 200),
        CALLABLE(false, 200),
        TASK(false, 200),
        DEFERRED(false, 202),
        COMPLETED_DEFERRED(false, 200),
        FUTURE(false, 200),
        MONO(false, 200),
        RAW_ASYNC(false, 200),
        RAW_AT_ONCE(false, 200),
        RAW_DISPATCH(false, 200),
        BY_RULE_FUTURE(false, 202),
        STREAMING_BODY(false, 200, "begun done"),
        EMITTER(false, 200, "begun done"),
        SSE(false, 200, "data:begun \n\ndata:done\n\n"),
        FLUX(false, 200, "data:begun \n\ndata:done\n\n"),
        BY_RULE_SSE(false, 200, "data:begun \n\ndata:done\n\n");

        private final boolean synchronous;
        private final int status;
        private final boolean streaming;
        private final String text;

        Style(boolean synchronous, int status) {
            this.synchronous = synchronous;
            this.status = status;
            this.streaming = false;
            this.text = "done";
        }

        Style(boolean synchronous, int status, String text) {
            this.synchronous = synchronous;
            this.status = status;
            this.streaming = true;
            this.text = text;
        }

        String text(Answer answer) {
            return switch (this) {
                case LARGE_RESOURCE -> StyleHandlers.LARGE + "done";
                case REDIRECT -> "";
                // The container's page, with the time of its making.
                case SEND_ERROR -> answer.text();
                default -> text;
            };
        }

        boolean replayable() {
            return !streaming && this != LARGE_RESOURCE;
        }
    }

    private static TestServer server(Container container) {
        return SERVERS.computeIfAbsent(
                container, absent -> TestServer.start(container == Container.JETTY ? OnJetty.class : Database.class));
    }

    record Cell(Container container, String guarantee, Style style) {

        TestServer server() {
            return ReturnStyleTests.server(container);
        }

        Effects effects() {
            return server().effects();
        }

        boolean isTransactional() {
            return guarantee.equals("transactional");
        }

        /** In the application's database; the refusal of an advised failure is all that is left of its transaction. */
        void assertCommitted(String key, int times) {
            assertThat(server().bean(StyleHandlers.Work.class).rows(key))
                    .isEqualTo(isTransactional() && style == Style.ADVISED ? 0 : times);
        }

        String path() {
            return "/" + guarantee + "/"
                    + style.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
        }

        Answer post(String key, boolean fail) {
            return postLater(key, fail).join();
        }

        CompletableFuture<Answer> postLater(String key, boolean fail) {
            return server().postLater(path(), key, "{}", "X-Fail", Boolean.toString(fail));
        }

        void assertFirst(Answer first) {
            assertThat(first.status()).isEqualTo(style.status);
            assertThat(first.text()).isEqualTo(style.text(first));
            if (style == Style.SEND_ERROR) {
                assertThat(first.json().get("status").asInt()).isEqualTo(404);
                assertThat(first.json().get("message").asText()).isEqualTo("nowhere");
            }
            assertThat(first.headers("Idempotent-Replayed")).isEmpty();
        }

        void assertDuplicate(Answer duplicate, Answer first) {
            if (!style.replayable()) {
                assertThat(duplicate.status()).isEqualTo(409);
                assertThat(duplicate.problem()).isEqualTo("result-not-replayable");
                return;
            }
            assertThat(duplicate.status()).isEqualTo(style.status);
            assertThat(duplicate.text()).isEqualTo(style.text(duplicate));
            if (style == Style.SEND_ERROR) {
                assertThat(duplicate.json().get("message").asText()).isEqualTo("nowhere");
            }
            assertThat(duplicate.replayed()).isTrue();
            if (first != null) {
                assertThat(duplicate.headers("Content-Type")).isEqualTo(first.headers("Content-Type"));
                assertThat(duplicate.headers("Location")).isEqualTo(first.headers("Location"));
            }
        }

        @Override
        public String toString() {
            return container + " " + guarantee + " " + style;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Database.class, Container.Jetty.class})
    static class OnJetty {}

    @Configuration(proxyBeanMethods = false)
    @Import({ExactlyOnceConfiguration.class, StyleHandlers.class})
    static class Database {

        @Bean
        static RuleGate ruleGate(ObjectProvider<FilterRegistrationBean<IdempotencyFilter>> filter) {
            return new RuleGate(() -> filter.getObject().getFilter());
        }

        @Bean
        PathRule leasedRule() {
            return rule("/leased/by-rule-*", OperationSettings.of("leased-rule", Guarantee.AT_LEAST_ONCE));
        }

        @Bean
        PathRule transactionalRule(PlatformTransactionManager manager, IdempotencyEngine engine) {
            return rule(
                    "/transactional/by-rule-*",
                    OperationSettings.of("transactional-rule", Guarantee.EXACTLY_ONCE)
                            .transactions(new SpringBusinessTransactions(
                                    manager, new DefaultTransactionAttribute(), (JdbcIdempotencyStore)
                                            engine.store())));
        }

        private static PathRule rule(String path, OperationSettings.Builder settings) {
            return new PathRule(
                    Set.of("POST"),
                    PathPatternParser.defaultInstance.parse(path),
                    settings.build(),
                    true,
                    FingerprintScheme.RAW);
        }

        @Bean
        DataSource dataSource() {
            return ExactlyOnceConfiguration.h2();
        }

        @Bean
        WebSettings webSettings() {
            return new TestWebSettings()
                    .maxResponseSize(DataSize.ofKilobytes(16))
                    .build();
        }
    }
}
