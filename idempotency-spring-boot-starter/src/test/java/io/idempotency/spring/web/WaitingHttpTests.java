package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.Idempotent;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** Duplicates that wait, on a server of six threads of which two may wait. */
class WaitingHttpTests {

    @AutoClose
    private static final TestServer server =
            TestServer.start(Small.class, "server.tomcat.threads.max=6", "server.tomcat.threads.min-spare=6");

    private final String key = TestServer.newKey();

    /**
     * Case 100: who may wait gets the result, who comes beyond the bound is refused at once, and others are served meanwhile. So it is
     * again with the next key: nobody keeps a place.
     */
    @RepeatedTest(2)
    void waitsWithinBoundsAndStarvesNobody() {
        List<CompletableFuture<Answer>> all;
        try (Effects.Stop stop = server.effects().stop(key)) {
            CompletableFuture<Answer> first = server.postLater("/waiting/work", key, "{}");
            stop.awaitArrival();
            List<CompletableFuture<Answer>> duplicates = server.postManyLater(8, "/waiting/work", key);
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> duplicates.stream()
                                    .filter(CompletableFuture::isDone)
                                    .count()
                            == 6);

            assertThat(server.send("GET", "/waiting/other", null, new byte[0]).text())
                    .isEqualTo("served");
            assertThat(duplicates.stream().filter(CompletableFuture::isDone).map(CompletableFuture::join))
                    .allMatch(answer -> "in-progress".equals(answer.problem()));
            all = duplicates;
            assertThat(first).isNotDone();
        }

        assertThat(all.stream().map(CompletableFuture::join).filter(Answer::replayed))
                .hasSize(2)
                .allMatch(answer -> answer.text().equals("run 1"));
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 100: whoever waits gets an answer before the first call does, if that takes too long. */
    @Test
    void waitsNoLongerThanItMay() {
        try (Effects.Stop stop = server.effects().stop(key)) {
            CompletableFuture<Answer> first = server.postLater("/waiting/briefly", key, "{}");
            stop.awaitArrival();

            assertThat(server.post("/waiting/briefly", key, "{}").problem()).isEqualTo("in-progress");
            assertThat(first).isNotDone();
        }
    }

    @RestController
    static class Handlers {

        private final Effects effects;

        Handlers(Effects effects) {
            this.effects = effects;
        }

        @PostMapping("/waiting/work")
        @Idempotent(waitAtMost = "60s")
        String work(@RequestHeader("Idempotency-Key") String key) {
            int run = effects.add(key);
            effects.passStop(key);
            return "run " + run;
        }

        @PostMapping("/waiting/briefly")
        @Idempotent(waitAtMost = "200ms")
        String briefly(@RequestHeader("Idempotency-Key") String key) {
            return work(key);
        }

        @GetMapping("/waiting/other")
        String other() {
            return "served";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({LibraryConfiguration.class, Handlers.class})
    static class Small {

        @Bean
        IdempotencyEngine engine() {
            return IdempotencyEngine.on(InMemoryIdempotencyStore.onSystemClock())
                    .maxWaiters(2)
                    .build();
        }

        @Bean
        IdempotentMethods idempotentMethods() {
            return TestMethods.leased();
        }
    }
}
