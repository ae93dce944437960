package io.idempotency.it.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import com.jayway.jsonpath.ReadContext;
import io.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Runs the jars of the reactor on the Spring Boot of the module that it is run in. */
@SpringBootTest(
        webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.datasource.url=jdbc:h2:mem:matrix;DB_CLOSE_DELAY=-1",
            "idempotency.store=jdbc",
            "management.endpoints.web.exposure.include=idempotencymodes",
            "idempotency.web.header=X-Order-Key",
            "idempotency.web.rules[0].operation=imports",
            "idempotency.web.rules[0].path=/imports/**"
        })
class BootMatrixIT {

    private final HttpClient http = HttpClient.newHttpClient();

    @LocalServerPort
    private int port;

    @Autowired
    private JdbcTemplate jdbc;

    @Test
    void aRetryGetsTheFirstResponse() throws Exception {
        String key = UUID.randomUUID().toString();

        HttpResponse<String> first = order(key, "{\"item\":\"tea\"}");
        HttpResponse<String> retry = order(key, "{\"item\":\"tea\"}");

        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
        assertThat(retry.statusCode()).isEqualTo(201);
        assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(retry.headers().allValues("Location"))
                .isEqualTo(first.headers().allValues("Location"))
                .hasSize(1);
        assertThat(ordersOf("tea")).hasSize(1);
    }

    @Test
    void anotherPayloadUnderTheSameKeyIsRefused() throws Exception {
        String key = UUID.randomUUID().toString();
        order(key, "{\"item\":\"milk\"}");

        HttpResponse<String> other = order(key, "{\"item\":\"sugar\"}");

        assertThat(other.statusCode()).isEqualTo(422);
        assertThat(other.headers().firstValue("Content-Type").orElseThrow()).startsWith("application/problem+json");
        assertThat(ordersOf("sugar")).isEmpty();
    }

    @Test
    void aRequestWithoutAKeyIsRefused() throws Exception {
        HttpResponse<String> response = order(null, "{\"item\":\"lemon\"}");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains("key-missing");
        assertThat(ordersOf("lemon")).isEmpty();
    }

    @Test
    void aHandlerWithoutAnnotationIsProtectedByItsPath() throws Exception {
        String key = UUID.randomUUID().toString();

        HttpResponse<String> first = post("/imports/a", key, "{}");

        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(post("/imports/a", key, "{}").body()).isEqualTo(first.body());
        assertThat(post("/imports/a", null, "{}").statusCode()).isEqualTo(400);
    }

    /** Tomcat 11 ends its own response after a forward, whatever a wrapper still holds back. */
    @Test
    void aResponseThatIsHeldBackSurvivesAForward() throws Exception {
        String key = UUID.randomUUID().toString();

        HttpResponse<String> first = post("/forwarded-orders", key, "{\"item\":\"salt\"}");
        HttpResponse<String> retry = post("/forwarded-orders", key, "{\"item\":\"salt\"}");

        assertThat(first.statusCode()).isEqualTo(202);
        assertThat(first.body()).isEqualTo("forwarded");
        assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
        assertThat(retry.statusCode()).isEqualTo(202);
        assertThat(retry.body()).isEqualTo("forwarded");
        assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
        assertThat(ordersOf("salt")).hasSize(1);
    }

    @Test
    void theEndpointSwitchesTheModeOfAnOperation() throws Exception {
        String modes = "/actuator/idempotencymodes";
        String ofOrders = modes + "/application-order";
        String key = UUID.randomUUID().toString();

        assertThat(post(ofOrders, null, "{\"mode\":\"observe\"}").statusCode()).isEqualTo(204);
        try {
            assertThat(order(key, "{\"item\":\"oil\"}").statusCode()).isEqualTo(201);
            assertThat(order(key, "{\"item\":\"oil\"}").statusCode()).isEqualTo(201);
            assertThat(ordersOf("oil")).hasSize(2);
            assertThat(get(modes))
                    .contains("\"application-order\":\"observe\"", "\"application-forwarded-order\":\"enforce\"");
            assertThat(post(modes, null, "{\"mode\":\"watch\"}").statusCode()).isEqualTo(400);
        } finally {
            assertThat(post(ofOrders, null, "{\"mode\":\"default\"}").statusCode())
                    .isEqualTo(204);
        }
        assertThat(order(null, "{\"item\":\"oil\"}").statusCode()).isEqualTo(400);
    }

    /** springdoc 2 for Spring Boot 3, springdoc 3 for Spring Boot 4. */
    @Test
    void theOpenApiDocumentTellsOfKeysRefusalsAndReplays() throws Exception {
        ReadContext document = JsonPath.parse(get("/v3/api-docs"));

        for (String path : new String[] {"/orders", "/imports/{file}"}) {
            String operation = "$.paths['" + path + "'].post";
            String header = operation + ".parameters[?(@.name == 'X-Order-Key' && @.in == 'header')]";
            assertThat(document.<List<?>>read(header + ".required")).isEqualTo(List.of(true));
            assertThat(document.<List<?>>read(header + ".schema.type")).isEqualTo(List.of("string"));
            assertThat(document.<List<?>>read(header + ".schema.maxLength")).isEqualTo(List.of(255));
            assertThat(codesOf(document, operation, "400")).containsExactly("key-missing", "key-invalid");
            assertThat(codesOf(document, operation, "409")).containsExactly("in-progress", "result-not-replayable");
            assertThat(codesOf(document, operation, "413")).containsExactly("request-too-large");
            assertThat(codesOf(document, operation, "422")).containsExactly("key-reused");
            assertThat(codesOf(document, operation, "503")).containsExactly("store-unavailable");
            assertThat(document.<Map<String, ?>>read(operation + ".responses['200'].headers"))
                    .containsOnlyKeys("Idempotent-Replayed", "Idempotency-Expires");
            assertThat(document.<Map<String, ?>>read(operation + ".responses['409'].headers"))
                    .containsOnlyKeys("Retry-After");
        }
        assertThat(document.<Map<String, ?>>read("$.paths['/forwarded'].post.responses"))
                .containsOnlyKeys("200");
        assertThat(document.<Map<String, ?>>read("$.paths['/forwarded'].post")).doesNotContainKey("parameters");
    }

    private static List<String> codesOf(ReadContext document, String operation, String status) {
        String problem = operation + ".responses['" + status + "'].content['application/problem+json']";
        List<String> codes = document.read(problem + ".schema.properties.code.enum");
        assertThat(document.<String>read(problem + ".schema.properties.detail.type"))
                .isEqualTo("string");
        for (String code : codes) {
            String example = problem + ".examples['" + code + "'].value";
            assertThat(document.<String>read(example + ".code")).isEqualTo(code);
            assertThat(document.<Integer>read(example + ".status")).isEqualTo(Integer.valueOf(status));
            assertThat(document.<String>read(example + ".detail")).isNotBlank();
        }
        return codes;
    }

    private String get(String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    private HttpResponse<String> order(@Nullable String key, String body) throws Exception {
        return post("/orders", key, body);
    }

    private HttpResponse<String> post(String path, @Nullable String key, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        if (key != null) {
            request.header("X-Order-Key", key);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private List<String> ordersOf(String item) {
        return jdbc.queryForList("select id from orders where item = ?", String.class, item);
    }

    record Order(String item) {}

    @SpringBootApplication
    @RestController
    static class Application {

        private final JdbcTemplate jdbc;

        Application(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
            jdbc.execute("create table if not exists orders (id varchar(36) primary key, item varchar(20))");
        }

        @PostMapping("/orders")
        @Idempotent
        ResponseEntity<String> order(@RequestBody Order order) {
            String id = UUID.randomUUID().toString();
            jdbc.update("insert into orders values (?, ?)", id, order.item());
            return ResponseEntity.created(URI.create("/orders/" + id))
                    .header("X-Thread", Thread.currentThread().toString())
                    .body(id);
        }

        @PostMapping("/forwarded-orders")
        @Idempotent
        void forwardedOrder(@RequestBody Order order, HttpServletRequest request, HttpServletResponse response)
                throws Exception {
            jdbc.update("insert into orders values (?, ?)", UUID.randomUUID().toString(), order.item());
            response.setStatus(HttpServletResponse.SC_ACCEPTED);
            request.getRequestDispatcher("/forwarded").forward(request, response);
        }

        @PostMapping("/imports/{file}")
        String imported(@PathVariable String file) {
            return file + " " + UUID.randomUUID();
        }

        @PostMapping("/forwarded")
        String forwarded() {
            return "forwarded";
        }
    }
}
