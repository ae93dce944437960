package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** Duplicates that wait for a database's record, on a pool that is too small for connections that sleep. */
class WaitingOnDatabaseHttpTests {

    private static final int WAITING = 6;

    @AutoClose
    private static final TestServer server = TestServer.start(SmallPool.class);

    private final String key = TestServer.newKey();

    private static int connectionsInUse() {
        return server.bean(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections();
    }

    /** Case 100: only the first call keeps what its transaction needs; whoever comes with other keys is served meanwhile. */
    @ParameterizedTest
    @CsvSource({"/waiting/exactly, 1", "/waiting/exactly-by-key, 1", "/waiting/leased, 0"})
    void keepsNoConnectionWhileItWaits(String path, int neededByTheFirst) {
        CompletableFuture<Answer> first;
        List<CompletableFuture<Answer>> waiting;
        try (Effects.Stop stop = server.effects().stop(key)) {
            first = server.postLater(path, key, "{}");
            stop.awaitArrival();
            waiting = server.postManyLater(WAITING, path, key);
            for (int other = 0; other < 20; other++) {
                assertThat(server.post(path, TestServer.newKey(), "{}").text()).isEqualTo("run 1");
            }
            await().atMost(Duration.ofSeconds(30)).until(() -> connectionsInUse() == neededByTheFirst);
            assertThat(waiting).noneMatch(CompletableFuture::isDone);
        }

        assertThat(first.join().text()).isEqualTo("run 1");
        assertThat(waiting.stream().map(CompletableFuture::join))
                .allMatch(answer -> answer.replayed() && answer.text().equals("run 1"));
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    @RestController
    static class Handlers {

        private final Effects effects;

        Handlers(Effects effects) {
            this.effects = effects;
        }

        @PostMapping("/waiting/exactly")
        @Idempotent(waitAtMost = "60s")
        String exactly(@RequestHeader("Idempotency-Key") String key) {
            int run = effects.add(key);
            effects.passStop(key);
            return "run " + run;
        }

        @PostMapping("/waiting/exactly-by-key")
        @Idempotent(operation = "by-key", key = "#key", waitAtMost = "60s")
        String exactlyByKey(@RequestHeader("Idempotency-Key") String key) {
            return exactly(key);
        }

        @PostMapping("/waiting/leased")
        @Idempotent(waitAtMost = "60s", guarantee = Guarantee.AT_LEAST_ONCE)
        String leased(@RequestHeader("Idempotency-Key") String key) {
            return exactly(key);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({ExactlyOnceConfiguration.class, Handlers.class})
    static class SmallPool {

        @Bean(destroyMethod = "close")
        HikariDataSource dataSource() {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl("jdbc:h2:mem:waiting;DB_CLOSE_DELAY=-1");
            pool.setMaximumPoolSize(3);
            pool.setConnectionTimeout(20_000);
            return pool;
        }
    }
}
