package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.spi.OutcomePolicy.Disposition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.util.unit.DataSize;

/** Cases 109 and 101: other limits and another rule about statuses than the stock ones. */
class LargeResponseHttpTests {

    // Patterns of the older kind, whose handlers the filter finds as well.
    @AutoClose
    private static final TestServer server =
            TestServer.start(Limited.class, "spring.mvc.pathmatch.matching-strategy=ant_path_matcher");

    private final String key = TestServer.newKey();

    private static long spilledFiles() throws Exception {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.filter(file -> file.getFileName().toString().startsWith("idempotency-response-"))
                    .count();
        }
    }

    /** Case 109. */
    @Test
    void deliversALargeAnswerOnceAndRemembersThatItWasDone() throws Exception {
        long before = spilledFiles();
        Answer first = server.post("/responses/body/1048576", key, "{}");
        Answer second = server.post("/responses/body/1048576", key, "{}");
        List<Answer> many = server.postManyLater(20, "/responses/body/1048576", key).stream()
                .map(CompletableFuture::join)
                .toList();

        assertThat(first.status()).isEqualTo(201);
        assertThat(first.text()).isEqualTo("0123456789abcdef".repeat(65536));
        assertThat(second.status()).isEqualTo(409);
        assertThat(second.problem()).isEqualTo("result-not-replayable");
        assertThat(second.json().get("originalStatus").asInt()).isEqualTo(201);
        assertThat(second.header("Location")).isEqualTo("/things/1");
        assertThat(second.headers("Retry-After")).isEmpty();
        assertThat(many).allMatch(answer -> "result-not-replayable".equals(answer.problem()));
        assertThat(server.effects().of(key)).isEqualTo(1);
        assertThat(spilledFiles()).isEqualTo(before);
    }

    @Test
    void replaysAnAnswerThatIsJustNotTooLarge() {
        server.post("/responses/body/65536", key, "{}");
        Answer second = server.post("/responses/body/65536", key, "{}");

        assertThat(second.replayed()).isTrue();
        assertThat(second.body()).hasSize(65536);
    }

    /** Without a transaction nothing is held back that is not stored: the fact is, before the first byte. */
    @Test
    void deliversMoreThanCouldBeHeldBack() throws Exception {
        long before = spilledFiles();
        Answer first = server.post("/responses/body/3145728", key, "{}");
        Answer second = server.post("/responses/body/3145728", key, "{}");

        assertThat(first.status()).isEqualTo(201);
        assertThat(first.body()).hasSize(3145728);
        assertThat(second.problem()).isEqualTo("result-not-replayable");
        assertThat(server.effects().of(key)).isEqualTo(1);
        assertThat(spilledFiles()).isEqualTo(before);
    }

    /** Case 101: '2xx only', as an application may want it. */
    @ParameterizedTest
    @CsvSource({"200, true", "201, true", "302, false", "400, false", "404, false", "422, false", "500, false"})
    void obeysAnotherRuleAboutStatuses(int status, boolean stored) {
        Answer first = server.post("/cases/statuses/" + status, key, "{}");
        Answer second = server.post("/cases/statuses/" + status, key, "{}");

        assertThat(first.status()).isEqualTo(status);
        assertThat(second.replayed()).isEqualTo(stored);
        assertThat(second.status()).isEqualTo(stored ? status : 201);
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Servers.Leased.class)
    static class Limited {

        @Bean
        WebSettings webSettings() {
            return new TestWebSettings()
                    .maxResponseSize(DataSize.ofKilobytes(64))
                    .maxSpillSize(DataSize.ofMegabytes(2))
                    .replayHeaders("X-Listed")
                    .problemTypeBase("https://example.org/problems/")
                    .build();
        }

        @Bean
        StatusPolicy twoHundredsOnly() {
            return (int status, Guarantee guarantee) ->
                    status >= 200 && status < 300 ? Disposition.STORE : Disposition.RELEASE;
        }
    }

    @Test
    void replaysAConfiguredHeaderAndNamesTheConfiguredType() {
        server.post("/responses/transfer-headers", key, "{}");

        assertThat(server.post("/responses/transfer-headers", key, "{}").header("X-Listed"))
                .isEqualTo("listed");
        assertThat(server.post("/responses/transfer-headers", key, "{\"other\":1}")
                        .json()
                        .get("type")
                        .asText())
                .isEqualTo("https://example.org/problems/key-reused");
    }
}
