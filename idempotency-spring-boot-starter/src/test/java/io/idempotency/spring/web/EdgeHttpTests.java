package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.boot.IdempotencyAutoConfiguration;
import io.idempotency.boot.IdempotencyJacksonAutoConfiguration;
import io.idempotency.boot.IdempotencyJdbcAutoConfiguration;
import io.idempotency.boot.IdempotencyMetricsAutoConfiguration;
import io.idempotency.boot.IdempotencyWebAutoConfiguration;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.support.ServletUriComponentsBuilder;

/** Behind proxies, over HTTP/2, before browsers, under rules in the application's transaction, under a flood of keys. */
class EdgeHttpTests {

    @AutoClose
    private static final TestServer server = TestServer.start(
            Application.class,
            "idempotency.store=jdbc",
            "server.http2.enabled=true",
            "server.forward-headers-strategy=framework",
            "idempotency.web.rules[0].operation=imports",
            "idempotency.web.rules[0].path=/imports/**",
            "idempotency.operations.imports.guarantee=exactly-once",
            "idempotency.web.rules[1].operation=api",
            "idempotency.web.rules[1].path=/api/**",
            "idempotency.web.rules[2].operation=late",
            "idempotency.web.rules[2].path=/api/nested");

    private final String key = TestServer.newKey();

    private static JdbcTemplate jdbc() {
        return new JdbcTemplate(server.bean(DataSource.class));
    }

    private static int imported(String name) {
        Integer count = jdbc().queryForObject("select count(*) from imported where name = ?", Integer.class, name);
        return count == null ? 0 : count;
    }

    // Proxies

    @Test
    void keepsTheLocationThatTheFirstProxyMade() {
        Answer first = forwarded("/edge/orders", "shop.example", "/shop");
        Answer sameProxy = forwarded("/edge/orders", "shop.example", "/shop");
        Answer otherProxy = forwarded("/edge/orders", "mirror.example", "/mirror");

        assertThat(first.header("Location")).isEqualTo("https://shop.example/shop/edge/orders/1");
        assertThat(sameProxy.replayed()).isTrue();
        assertThat(sameProxy.header("Location")).isEqualTo(first.header("Location"));
        // The path below the prefix is the path of the key.
        assertThat(otherProxy.replayed()).isTrue();
        assertThat(otherProxy.header("Location")).isEqualTo(first.header("Location"));
        assertThat(forwarded("/edge/others", "shop.example", "/shop").replayed())
                .as("another path is another key")
                .isFalse();
    }

    @Test
    void replaysARedirectAsItLeft() {
        Answer first = forwarded("/edge/redirect", "shop.example", "/shop");
        Answer retry = forwarded("/edge/redirect", "shop.example", "/shop");

        assertThat(first.status()).isEqualTo(302);
        assertThat(retry.status()).isEqualTo(302);
        assertThat(retry.replayed()).isTrue();
        assertThat(retry.header("Location"))
                .isEqualTo(first.header("Location"))
                .isEqualTo("https://shop.example/edge/receipt");
    }

    private Answer forwarded(String path, String host, String prefix) {
        return server.post(
                path, key, "{}", "X-Forwarded-Host", host, "X-Forwarded-Proto", "https", "X-Forwarded-Prefix", prefix);
    }

    // HTTP/2

    @Test
    void replaysOverHttp2() throws Exception {
        HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_2)
                .connectTimeout(Duration.ofSeconds(10))
                .build();
        // Upgrades the connection.
        client.send(HttpRequest.newBuilder(uri("/edge/nothing")).build(), HttpResponse.BodyHandlers.discarding());

        HttpResponse<String> first = client.send(http2("{}"), HttpResponse.BodyHandlers.ofString());
        HttpResponse<String> retry = client.send(http2("{}"), HttpResponse.BodyHandlers.ofString());
        HttpResponse<String> other = client.send(http2("{\"other\":1}"), HttpResponse.BodyHandlers.ofString());
        List<CompletableFuture<HttpResponse<String>>> streams = IntStream.range(0, 20)
                .mapToObj(i -> client.sendAsync(http2("{}"), HttpResponse.BodyHandlers.ofString()))
                .toList();

        assertThat(List.of(first.version(), retry.version(), other.version())).containsOnly(HttpClient.Version.HTTP_2);
        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(retry.statusCode()).isEqualTo(201);
        assertThat(retry.headers().firstValue("idempotent-replayed")).hasValue("true");
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(retry.headers().firstValue("location"))
                .isEqualTo(first.headers().firstValue("location"));
        assertThat(other.statusCode()).isEqualTo(422);
        assertThat(streams)
                .allSatisfy(stream -> assertThat(stream.join().headers().firstValue("idempotent-replayed"))
                        .hasValue("true"));
    }

    private static URI uri(String path) {
        return URI.create("http://localhost:" + server.port() + path);
    }

    private HttpRequest http2(String body) {
        return HttpRequest.newBuilder(uri("/edge/orders"))
                .timeout(Duration.ofSeconds(60))
                .header("Content-Type", "application/json")
                .header("idempotency-key", key)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }

    // Browsers

    /** Case 92. */
    @Test
    void leavesAPreflightAndSafeMethodsToSpring() throws IOException {
        String asked = "POST /edge/orders HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: " + key + "\r\n";
        try (TestServer.Raw raw = server.raw()) {
            raw.write((asked.replace("POST", "OPTIONS") + "Origin: https://shop.example\r\n"
                            + "Access-Control-Request-Method: POST\r\n"
                            + "Access-Control-Request-Headers: idempotency-key\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            Answer preflight = raw.read();

            assertThat(preflight.status()).isEqualTo(200);
            assertThat(preflight.header("Access-Control-Allow-Headers")).isEqualTo("idempotency-key");
            assertThat(preflight.headers().keySet()).noneMatch(name -> name.startsWith("idempotent"));
        }
        assertThat(server.send("OPTIONS", "/edge/orders", key, new byte[0]).header("Allow"))
                .contains("POST");
        assertThat(server.send("HEAD", "/edge/orders", key, new byte[0]).status())
                .isEqualTo(405);
        Answer first = server.post("/edge/orders", key, "{}", "Origin", "https://shop.example");
        Answer retry = server.post("/edge/orders", key, "{}", "Origin", "https://shop.example");

        assertThat(first.replayed()).as("nothing before was a call").isFalse();
        assertThat(retry.replayed()).isTrue();
        assertThat(retry.headers("Access-Control-Allow-Origin"))
                .as("of this request, not of the first one")
                .containsExactly("https://shop.example");
        assertThat(server.post("/edge/orders", key, "{}", "Origin", "https://evil.example")
                        .status())
                .isEqualTo(403);
    }

    // Rules

    /** The effect of a handler by rule, its record and its response are one transaction. */
    @Test
    void rulesHoldInTheTransactionOfTheApplication() {
        Answer first = server.post("/imports/good", key, key);
        Answer retry = server.post("/imports/good", key, key);
        Answer other = server.post("/imports/good", key, "another body");

        assertThat(first.status()).isEqualTo(202);
        assertThat(retry.replayed()).isTrue();
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(other.problem()).isEqualTo("key-reused");
        assertThat(imported(key)).isEqualTo(1);
    }

    @Test
    void rulesRollBackWithAFailure() {
        server.effects().add("fail " + key);
        Answer failed = server.post("/imports/bad", key, key);
        assertThat(failed.status()).isEqualTo(500);
        assertThat(imported(key)).isZero();

        Answer retry = server.post("/imports/bad", key, key);
        assertThat(retry.status()).isEqualTo(202);
        assertThat(retry.replayed()).isFalse();
        assertThat(imported(key)).isEqualTo(1);
    }

    @Test
    void rulesLetOneOfManyConcurrentRequestsThrough() {
        List<CompletableFuture<Answer>> all = IntStream.range(0, 12)
                .mapToObj(i -> server.postLater("/imports/good", key, key))
                .toList();

        assertThat(all).allSatisfy(answer -> assertThat(answer.join().status()).isIn(202, 409));
        assertThat(imported(key)).isEqualTo(1);
    }

    /** Case 86: what two doors could claim is claimed by the annotation alone, or under two names. */
    @ParameterizedTest
    @ValueSource(strings = {"/api/annotated", "/api/by-key", "/api/nested"})
    void claimsOnceWhereARuleAndAnAnnotationMeet(String path) {
        Answer first = server.post(path, key, "{}");
        Answer retry = server.post(path, key, "{}");

        assertThat(first.status()).isEqualTo(201);
        assertThat(first.headers("Idempotent-Replayed")).isEmpty();
        assertThat(retry.status()).isEqualTo(201);
        assertThat(retry.replayed()).isTrue();
        assertThat(retry.text()).isEqualTo(first.text());
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 86. */
    @ParameterizedTest
    @ValueSource(strings = {"/api/annotated", "/api/by-key", "/api/nested"})
    void meetsNoClaimOfItsOwnAfterAFailure(String path) {
        server.effects().add("fail " + key);

        assertThat(server.post(path, key, "{}").status()).isEqualTo(500);
        assertThat(server.post(path, key, "{}").status()).isEqualTo(500);
        assertThat(server.effects().of(key)).isEqualTo(2);
    }

    /** Case 86: both keep what they keep under their own name; of two rules the first one counts. */
    @Test
    void keepsTheRecordsOfTwoDoorsApart() {
        server.post("/api/nested", key, "{}");
        server.post("/api/annotated", key, "{}");

        assertThat(jdbc().queryForList(
                                "select distinct operation from idempotency_record where operation in ('api', 'late', 'work-run', 'handlers-annotated')",
                                String.class))
                .containsExactlyInAnyOrder("api", "work-run", "handlers-annotated");
    }

    // Floods

    @Test
    void aFloodOfKeysLeavesNoMeterAndNoThreadBehind() {
        server.post("/edge/orders", key, "{}");
        server.post("/edge/orders", "a,b", "{}");
        long meters = meters();
        int threads = Thread.activeCount();

        for (int i = 0; i < 300; i++) {
            assertThat(server.post("/edge/orders", key + "-" + i + "x".repeat(200), "{}")
                            .status())
                    .isEqualTo(201);
            assertThat(server.post("/edge/orders", key + "," + i, "{}").status())
                    .isEqualTo(400);
        }

        assertThat(meters()).isEqualTo(meters);
        assertThat(server.bean(MeterRegistry.class).getMeters().stream()
                        .map(Meter::getId)
                        .flatMap(id -> id.getTags().stream())
                        .map(Tag::getValue))
                .noneMatch(value -> value.contains(key));
        assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads + 20);
    }

    private static long meters() {
        return server.bean(MeterRegistry.class).getMeters().size();
    }

    /** A key of the body may be as large as the body: it is refused before it costs anything. */
    @Test
    void refusesHugeKeysOfArguments() {
        String huge = "{\"number\":\"" + "9".repeat(500_000) + "\"}";

        Answer answer = server.post("/edge/place", null, huge);

        assertThat(answer.problem()).isEqualTo("key-invalid");
        assertThat(answer.text()).doesNotContain("9999");
        assertThat(server.effects().of("place")).isZero();
    }

    record Order(String number) {}

    /** A service that is idempotent itself, by the key of the request that calls it. */
    static class Work {

        private final Effects effects;

        Work(Effects effects) {
            this.effects = effects;
        }

        @Idempotent
        String run(String key) {
            int run = effects.add(key);
            if (effects.of("fail " + key) > 0) {
                throw new IllegalStateException("broken");
            }
            return "run " + run;
        }
    }

    @RestController
    static class Handlers {

        private final Effects effects;
        private final Work plain;
        private final Work work;

        Handlers(Effects effects, Work work) {
            this.effects = effects;
            this.plain = new Work(effects);
            this.work = work;
        }

        @PostMapping("/api/annotated")
        @Idempotent
        ResponseEntity<String> annotated(@RequestHeader("Idempotency-Key") String key) {
            return ResponseEntity.status(201).body(plain.run(key));
        }

        @PostMapping("/api/by-key")
        @Idempotent(key = "#key")
        ResponseEntity<String> byKey(@RequestHeader("Idempotency-Key") String key) {
            return annotated(key);
        }

        @PostMapping("/api/nested")
        ResponseEntity<String> nested(@RequestHeader("Idempotency-Key") String key) {
            return ResponseEntity.status(201).body(work.run(key));
        }

        @PostMapping({"/edge/orders", "/edge/others"})
        @CrossOrigin(origins = "https://shop.example")
        @Idempotent
        ResponseEntity<String> order(@RequestBody Map<String, Object> body) {
            URI location = ServletUriComponentsBuilder.fromCurrentRequest()
                    .path("/1")
                    .build()
                    .toUri();
            return ResponseEntity.created(location).body("order " + effects.add("orders"));
        }

        @PostMapping("/edge/redirect")
        @Idempotent
        void redirect(HttpServletResponse response) throws IOException {
            response.sendRedirect("/edge/receipt");
        }

        @PostMapping("/edge/place")
        @Idempotent(key = "#order.number", guarantee = Guarantee.AT_LEAST_ONCE)
        String place(@RequestBody Order order) {
            return "place " + effects.add("place");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({WebConfiguration.class, Handlers.class})
    @ImportAutoConfiguration({
        IdempotencyJdbcAutoConfiguration.class,
        IdempotencyMetricsAutoConfiguration.class,
        IdempotencyJacksonAutoConfiguration.class,
        IdempotencyAutoConfiguration.class,
        IdempotencyWebAutoConfiguration.class
    })
    static class Application {

        @Bean
        Work work(Effects effects) {
            return new Work(effects);
        }

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean
        DataSource dataSource() {
            DataSource dataSource = ExactlyOnceConfiguration.h2();
            new JdbcTemplate(dataSource).execute("create table imported (name varchar(100))");
            return dataSource;
        }

        @Bean
        PlatformTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        RouterFunction<ServerResponse> imports(DataSource dataSource, Effects effects) {
            JdbcTemplate jdbc = new JdbcTemplate(dataSource);
            return RouterFunctions.route()
                    .POST("/imports/{name}", request -> {
                        String name = request.body(String.class);
                        jdbc.update("insert into imported values (?)", name);
                        if (effects.of("fail " + name) == 1) {
                            effects.add("fail " + name);
                            throw new IllegalStateException("broken");
                        }
                        return ServerResponse.accepted().body("imported");
                    })
                    .build();
        }
    }
}
