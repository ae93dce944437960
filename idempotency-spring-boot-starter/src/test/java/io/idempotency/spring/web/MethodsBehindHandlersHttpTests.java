package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Idempotent;
import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.boot.IdempotencyAutoConfiguration;
import io.idempotency.boot.IdempotencyInMemoryAutoConfiguration;
import io.idempotency.boot.IdempotencyJacksonAutoConfiguration;
import io.idempotency.boot.IdempotencyWebAutoConfiguration;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;

/** Idempotent methods of beans that handlers call, and handlers whose door is that of methods. */
class MethodsBehindHandlersHttpTests {

    private final String key = TestServer.newKey();

    @Nested
    class BehindTheFilter {

        @AutoClose
        private static final TestServer server = TestServer.start(Application.class, "idempotency.store=in-memory");

        // Case 86: the handler's record and the method's are two, and their operations differ.
        @Test
        void takeTheKeyOfTheRequestAsTheHandlerDoes() {
            Answer first = server.post("/both", key, "\"a\"");
            Answer second = server.post("/both", key, "\"a\"");

            assertThat(first.status()).isEqualTo(201);
            assertThat(first.replayed()).isFalse();
            assertThat(second.status()).isEqualTo(201);
            assertThat(second.replayed()).isTrue();
            assertThat(second.text()).isEqualTo(first.text());
            assertThat(server.effects().of("ambient a")).isEqualTo(1);
        }

        // Case 86.
        @Test
        void releaseTheKeyWithTheHandlerThatFails() {
            assertThat(server.post("/both", key, "\"broken\"").status()).isEqualTo(500);
            assertThat(server.post("/both", key, "\"broken\"").status()).isEqualTo(500);
            assertThat(server.effects().of("ambient broken")).isEqualTo(2);
        }

        @ParameterizedTest
        @CsvSource({"/plain", "/annotated"})
        void refuseWhileTheFirstCallRunsAndTheHandlerSaysSo(String path) {
            String order = "\"gate " + path + "\"";
            CompletableFuture<Answer> first;
            try (Effects.Stop stop = server.effects().stop("gate " + path)) {
                first = server.postLater(path, TestServer.newKey(), order);
                stop.awaitArrival();

                Answer second = server.post(path, key, order);

                assertThat(second.status()).isEqualTo(409);
                assertThat(second.problem()).isEqualTo("in-progress");
                assertThat(second.header("Retry-After")).isNotNull();
            }
            assertThat(first.join().text()).isEqualTo("run 1");

            // The refusal was no result: neither of the method nor of the handler.
            Answer again = server.post(path, key, order);
            assertThat(again.status()).isEqualTo(200);
            assertThat(again.text()).isEqualTo("run 1");
        }

        @Test
        void refuseInTheWordsOfTheApplicationWhereItHasSome() {
            Answer answer = server.post("/without-key", null, "\"a\"");

            assertThat(answer.status()).isEqualTo(418);
            assertThat(answer.text()).isEqualTo("of the application");
        }
    }

    @Nested
    class AtTheDoorOfMethods {

        @AutoClose
        private static final TestServer server =
                TestServer.start(Application.class, "idempotency.store=in-memory", "idempotency.web.enabled=false");

        // Case 80.
        @Test
        void entitiesComeBackWithStatusHeadersAndBody() {
            Answer first = server.post("/entities/created", null, "\"a\"");
            Answer second = server.post("/entities/created", null, "\"a\"");

            assertThat(first.status()).isEqualTo(201);
            for (Answer answer : new Answer[] {first, second}) {
                assertThat(answer.status()).isEqualTo(201);
                assertThat(answer.header("Location")).isEqualTo("/entities/1");
                assertThat(answer.header("ETag")).isEqualTo("\"v1\"");
                assertThat(answer.json().toString()).isEqualTo("{\"name\":\"a\",\"run\":1}");
            }
        }

        // Case 80: an entity is a value, whatever its status says.
        @ParameterizedTest
        @CsvSource({"no-content, 204, ''", "unprocessable, 422, run 1"})
        void entitiesComeBackWhateverTheirStatusIs(String path, int status, String body) {
            for (int i = 0; i < 2; i++) {
                Answer answer = server.post("/entities/" + path, null, "\"" + path + "\"");
                assertThat(answer.status()).isEqualTo(status);
                assertThat(answer.text()).isEqualTo(body);
            }
            assertThat(server.effects().of(path)).isEqualTo(1);
        }

        // Case 76: what the application has for its exceptions it has with and without the annotation.
        @ParameterizedTest
        @CsvSource({"checked, 422", "unchecked, 500", "status, 409"})
        void exceptionsAreAnsweredAsWithoutTheAnnotation(String kind, int status) {
            Answer plain = server.post("/failures/plain/" + kind, null, "\"p\"");
            Answer annotated = server.post("/failures/annotated/" + kind, null, "\"a-" + kind + "\"");
            Answer again = server.post("/failures/annotated/" + kind, null, "\"a-" + kind + "\"");

            assertThat(plain.status()).isEqualTo(status);
            assertThat(annotated.status()).isEqualTo(status);
            assertThat(annotated.header("Content-Type")).isEqualTo(plain.header("Content-Type"));
            if (status == 422) {
                assertThat(annotated.text()).isEqualTo("checked a-checked");
            }
            assertThat(again.status()).isEqualTo(status);
            assertThat(server.effects().of("a-" + kind)).isEqualTo(2);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({WebConfiguration.class, Service.class, Handlers.class, Entities.class, Failing.class, Advice.class})
    @ImportAutoConfiguration({
        IdempotencyInMemoryAutoConfiguration.class,
        IdempotencyJacksonAutoConfiguration.class,
        IdempotencyAutoConfiguration.class,
        IdempotencyWebAutoConfiguration.class
    })
    static class Application {}

    static class Service {

        private final Effects effects;

        Service(Effects effects) {
            this.effects = effects;
        }

        @Idempotent
        public String ambient(String order) {
            effects.add("ambient " + order);
            if (order.equals("broken")) {
                throw new IllegalStateException("broken");
            }
            return "done";
        }

        @Idempotent(key = "#order")
        public String named(String order) {
            int run = effects.add(order);
            effects.passStop(order);
            return "run " + run;
        }
    }

    @RestController
    static class Handlers {

        private final Service service;

        Handlers(Service service) {
            this.service = service;
        }

        @PostMapping("/both")
        @Idempotent
        ResponseEntity<String> both(@RequestBody String order) {
            return ResponseEntity.created(URI.create("/orders/1")).body(service.ambient(order.replace("\"", "")));
        }

        @PostMapping("/plain")
        String plain(@RequestBody String order) {
            return service.named(order.replace("\"", ""));
        }

        @PostMapping("/annotated")
        @Idempotent
        String annotated(@RequestBody String order) {
            return service.named(order.replace("\"", ""));
        }

        @PostMapping("/without-key")
        String withoutKey(@RequestBody String order) {
            return service.ambient(order);
        }
    }

    record Entity(String name, int run) {}

    @RestController
    static class Entities {

        private final Effects effects;

        Entities(Effects effects) {
            this.effects = effects;
        }

        @PostMapping("/entities/created")
        @Idempotent(key = "#name")
        ResponseEntity<Entity> created(@RequestBody String name) {
            int run = effects.add(name);
            return ResponseEntity.created(URI.create("/entities/" + run))
                    .eTag("v" + run)
                    .body(new Entity(name.replace("\"", ""), run));
        }

        @PostMapping("/entities/no-content")
        @Idempotent(key = "#name")
        ResponseEntity<Void> noContent(@RequestBody String name) {
            effects.add(name.replace("\"", ""));
            return ResponseEntity.noContent().build();
        }

        @PostMapping("/entities/unprocessable")
        @Idempotent(key = "#name")
        ResponseEntity<String> unprocessable(@RequestBody String name) {
            return ResponseEntity.unprocessableEntity().body("run " + effects.add(name.replace("\"", "")));
        }
    }

    static class OrderRejected extends Exception {

        private static final long serialVersionUID = 1L;

        OrderRejected(String message) {
            super(message);
        }
    }

    @RestController
    static class Failing {

        private final Effects effects;

        Failing(Effects effects) {
            this.effects = effects;
        }

        @PostMapping("/failures/plain/{kind}")
        String plain(@PathVariable String kind, @RequestBody String order) throws Exception {
            return fail(kind, order);
        }

        @PostMapping("/failures/annotated/{kind}")
        @Idempotent(key = "#order")
        String annotated(@PathVariable String kind, @RequestBody String order) throws Exception {
            return fail(kind, order);
        }

        private String fail(String kind, String order) throws Exception {
            String name = order.replace("\"", "");
            effects.add(name);
            switch (kind) {
                case "checked" -> throw new OrderRejected("checked " + name);
                case "status" -> throw new ResponseStatusException(HttpStatus.CONFLICT, "no");
                default -> throw new IllegalStateException("unchecked");
            }
        }
    }

    @RestControllerAdvice
    static class Advice {

        @ExceptionHandler
        ResponseEntity<String> rejected(OrderRejected rejection) {
            return ResponseEntity.unprocessableEntity().body(rejection.getMessage());
        }

        @ExceptionHandler
        ResponseEntity<String> missing(MissingIdempotencyKeyException refusal) {
            return ResponseEntity.status(HttpStatus.I_AM_A_TEAPOT).body("of the application");
        }
    }
}
