package io.idempotency.it.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.Guarantee;
import io.idempotency.it.servers.RedisProcess;
import io.idempotency.redis.RedisIdempotencyStore;
import io.idempotency.redis.RedisServerChecks;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.WriteOutcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Redis with each Spring Boot: its Spring Data, its Lettuce, its health. */
@SpringBootTest(
        classes = BootMatrixIT.Application.class,
        webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.datasource.url=jdbc:h2:mem:tiers;DB_CLOSE_DELAY=-1",
            "spring.data.redis.timeout=1s",
            "idempotency.store=tiered",
            "management.endpoint.health.show-details=always",
            "management.health.redis.enabled=false"
        })
@DirtiesContext
class TiersMatrixIT {

    private static final RedisProcess REDIS = RedisProcess.start();

    private final HttpClient http = HttpClient.newHttpClient();

    @LocalServerPort
    private int port;

    @Autowired
    private JdbcTemplate jdbc;

    @Autowired
    private MeterRegistry meters;

    @Autowired
    private RedisConnectionFactory redis;

    @DynamicPropertySource
    static void redis(DynamicPropertyRegistry registry) {
        registry.add("spring.data.redis.host", () -> "127.0.0.1");
        registry.add("spring.data.redis.port", REDIS::port);
    }

    @AfterAll
    static void stop() {
        REDIS.close();
    }

    @Test
    void retriesAreAnsweredByRedisAndWithoutIt() throws Exception {
        String key = UUID.randomUUID().toString();
        String first = order(key);
        await().atMost(60, TimeUnit.SECONDS).until(() -> order(key).equals(first) && asked("hit") > 0);
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> get("/actuator/health/idempotency").contains("\"cache\":\"answers\""));
        assertThat(get("/actuator/health/idempotency"))
                .contains("\"status\":\"UP\"", "\"store\":\"tiered(redis, jdbc(H2 ");

        REDIS.kill();
        try {
            assertThat(order(key)).isEqualTo(first);
            assertThat(order(UUID.randomUUID().toString())).isNotEqualTo(first);
            assertThat(get("/actuator/health/idempotency")).contains("\"status\":\"UP\"", "does not answer");
        } finally {
            REDIS.restart();
        }
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> get("/actuator/health/idempotency").contains("\"cache\":\"answers\""));
        assertThat(jdbc.queryForList("select id from orders where id = ?", String.class, first))
                .hasSize(1);
    }

    @Test
    void everyTransitionOfTheRedisStoreWorks() {
        RedisIdempotencyStore store = RedisIdempotencyStore.builder(redis)
                .keyPrefix("idempotency:matrix:")
                .build();
        ClaimRequest request = request();
        StoredResult result = StoredResult.value("test", new byte[] {1, 2, 3});

        assertThat(store.tryClaim(request)).isInstanceOf(ClaimResult.Claimed.class);
        Lease lease = new Lease(request, 1);
        assertThat(store.tryClaim(again(request))).isInstanceOf(ClaimResult.InProgress.class);
        assertThat(store.renew(lease)).isEqualTo(WriteOutcome.APPLIED);
        assertThat(store.complete(lease, result, Duration.ofMinutes(1))).isEqualTo(WriteOutcome.APPLIED);
        assertThat(store.tryClaim(again(request)))
                .isInstanceOfSatisfying(
                        ClaimResult.Done.class,
                        done -> assertThat(done.result()).isEqualTo(result));
        assertThat(store.find(request.id())).isPresent();
        assertThat(store.forget(request.id())).isTrue();
        ClaimRequest other = request();
        store.tryClaim(other);
        assertThat(store.release(new Lease(other, 1))).isEqualTo(WriteOutcome.APPLIED);
        assertThat(RedisServerChecks.of(store, Duration.ofSeconds(30)).warnings())
                .isEmpty();
    }

    private static ClaimRequest request() {
        return again(RecordId.of("matrix", "", UUID.randomUUID().toString()));
    }

    private static ClaimRequest again(ClaimRequest request) {
        return again(request.id());
    }

    private static ClaimRequest again(RecordId id) {
        return new ClaimRequest(
                id,
                "matrix",
                Guarantee.AT_LEAST_ONCE,
                new Owner(UUID.randomUUID()),
                Fingerprint.NONE,
                Duration.ofMinutes(1),
                Duration.ofMinutes(1),
                null);
    }

    private double asked(String result) {
        Counter counter = meters.find("idempotency.tier").tag("result", result).counter();
        return counter == null ? 0 : counter.count();
    }

    private String order(String key) throws Exception {
        HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/orders"))
                        .header("Content-Type", "application/json")
                        .header("Idempotency-Key", key)
                        .POST(HttpRequest.BodyPublishers.ofString("{\"item\":\"tea\"}"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(201);
        return response.body();
    }

    private String get(String path) throws Exception {
        return http.send(
                        HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }
}
