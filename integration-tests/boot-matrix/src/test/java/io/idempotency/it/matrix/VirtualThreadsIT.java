package io.idempotency.it.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.JdbcTemplate;

/** The web server runs every request on a virtual thread of its own. */
@EnabledForJreRange(min = JRE.JAVA_21)
@SpringBootTest(
        classes = BootMatrixIT.Application.class,
        webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.datasource.url=jdbc:h2:mem:virtual;DB_CLOSE_DELAY=-1",
            "idempotency.store=jdbc",
            "spring.threads.virtual.enabled=true"
        })
class VirtualThreadsIT {

    private final HttpClient http = HttpClient.newHttpClient();
    private final String key = UUID.randomUUID().toString();

    @LocalServerPort
    private int port;

    @Autowired
    private JdbcTemplate jdbc;

    private CompletableFuture<HttpResponse<String>> order(String orderKey, String item) {
        return http.sendAsync(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/orders"))
                        .timeout(Duration.ofSeconds(60))
                        .header("Content-Type", "application/json")
                        .header("Idempotency-Key", orderKey)
                        .POST(HttpRequest.BodyPublishers.ofString("{\"item\":\"" + item + "\"}"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private int ordersOf(String item) {
        return jdbc.queryForList("select id from orders where item = ?", String.class, item)
                .size();
    }

    @Test
    void oneOfManyConcurrentRequestsRuns() {
        List<CompletableFuture<HttpResponse<String>>> all =
                IntStream.range(0, 50).mapToObj(i -> order(key, "rice")).toList();

        assertThat(all)
                .allSatisfy(answer -> assertThat(answer.join().statusCode()).isIn(201, 409));
        HttpResponse<String> retry = order(key, "rice").join();
        assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
        assertThat(retry.headers().firstValue("X-Thread").orElse("not replayed"))
                .isEqualTo("not replayed");
        assertThat(ordersOf("rice")).isEqualTo(1);
    }

    @Test
    void moreRequestsAtOnceThanTheServerWouldHaveThreads() {
        List<CompletableFuture<HttpResponse<String>>> all =
                IntStream.range(0, 300).mapToObj(i -> order(key + i, "corn")).toList();

        assertThat(all).allSatisfy(answer -> {
            assertThat(answer.join().statusCode()).isEqualTo(201);
            assertThat(answer.join().headers().firstValue("X-Thread").orElseThrow())
                    .startsWith("VirtualThread");
        });
        assertThat(ordersOf("corn")).isEqualTo(300);
    }
}
