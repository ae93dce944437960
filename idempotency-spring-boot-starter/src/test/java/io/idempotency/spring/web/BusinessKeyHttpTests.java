package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import io.idempotency.Idempotent;
import io.idempotency.Toggle;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Keys that are made of what a handler is called with: claimed at the gate, with the guarantees of a key in the header. */
class BusinessKeyHttpTests {

    @AutoClose
    private static final TestServer server = TestServer.start(Database.class);

    private final String order = UUID.randomUUID().toString();

    private Answer post(String path) {
        return post(path, body());
    }

    private Answer post(String path, String body) {
        return server.post(path, null, body);
    }

    private String body() {
        return "{\"orderNo\":\"" + order + "\",\"amount\":5}";
    }

    private int rows() {
        return server.bean(Ledger.class).rows(order);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/orders/exactly", "/orders/leased", "/orders/callable"})
    void replaysByTheOrderNumberWithoutAnyHeader(String path) {
        Answer first = post(path);
        Answer second = post(path);

        assertThat(first.status()).isEqualTo(201);
        assertThat(first.headers("Idempotent-Replayed")).isEmpty();
        assertThat(second.status()).isEqualTo(201);
        assertThat(second.replayed()).isTrue();
        assertThat(second.text()).isEqualTo(first.text());
        assertThat(rows()).isEqualTo(1);
        assertThat(server.effects().of("context of " + order)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/orders/exactly", "/orders/leased"})
    void refusesAnotherPayloadUnderTheSameNumber(String path) {
        post(path);
        Answer other = post(path, "{\"orderNo\":\"" + order + "\",\"amount\":6}");

        assertThat(other.status()).isEqualTo(422);
        assertThat(other.problem()).isEqualTo("key-reused");
        // Others know the number: they could try the members of the first order one by one.
        assertThat(other.json().get("differences")).hasToString("[\"body\"]");
        assertThat(other.json().has("pointers")).isFalse();
        assertThat(rows()).isEqualTo(1);
    }

    /** The loser's transaction is rolled back before the winner is read. */
    @ParameterizedTest
    @ValueSource(strings = {"/orders/exactly", "/orders/leased", "/orders/callable"})
    void refusesADuplicateWhileTheFirstRuns(String path) {
        CompletableFuture<Answer> first;
        Answer during;
        try (Effects.Stop stop = server.effects().stop(order)) {
            first = server.postLater(path, null, body());
            stop.awaitArrival();
            during = post(path);
        }

        assertThat(during.status()).isEqualTo(409);
        assertThat(during.problem()).isEqualTo("in-progress");
        assertThat(during.header("Retry-After")).isNotNull();
        assertThat(first.join().status()).isEqualTo(201);
        assertThat(post(path).replayed()).isTrue();
        assertThat(rows()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/orders/exactly-waiting", "/orders/leased-waiting"})
    void waitsForTheResultWhereThatIsWanted(String path) throws Exception {
        CompletableFuture<Answer> first;
        CompletableFuture<Answer> second;
        try (Effects.Stop stop = server.effects().stop(order)) {
            first = server.postLater(path, null, body());
            stop.awaitArrival();
            second = server.postLater(path, null, body());
        }

        assertThat(first.join().status()).isEqualTo(201);
        assertThat(second.join().status()).isEqualTo(201);
        assertThat(first.join().replayed() ^ second.join().replayed()).isTrue();
        assertThat(rows()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/orders/exactly", "/orders/leased"})
    void runsAgainAfterAFailure(String path) {
        server.effects().add("fail " + order);
        Answer first = post(path);
        Answer second = post(path);

        assertThat(first.status()).isEqualTo(500);
        assertThat(second.status()).isEqualTo(201);
        assertThat(second.replayed()).isFalse();
        assertThat(server.effects().of(order)).isEqualTo(2);
    }

    /** As with a key in the header: the work is undone, the 402 is the answer from now on. */
    @Test
    void storesARefusalWhoseWorkIsUndone() {
        Answer first = post("/orders/refused");
        Answer second = post("/orders/refused");

        assertThat(first.status()).isEqualTo(402);
        assertThat(second.status()).isEqualTo(402);
        assertThat(second.replayed()).isTrue();
        assertThat(second.text()).isEqualTo(first.text());
        assertThat(rows()).isZero();
    }

    /** Case 66. */
    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"orderNo\":null}", "{\"orderNo\":\" \"}"})
    void refusesAKeyThatIsNoKey(String body) {
        for (String path : new String[] {"/orders/exactly", "/orders/leased"}) {
            Answer answer = post(path, body);

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.problem()).isEqualTo("key-invalid");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/orders/optional", "/orders/optional-exactly"})
    void runsUnprotectedWithoutAKeyWhereThatIsAllowed(String path) {
        assertThat(post(path, "{}").status()).isEqualTo(200);
        assertThat(post(path, "{}").replayed()).isFalse();
        assertThat(post(path).replayed()).isFalse();
        assertThat(post(path).replayed()).isTrue();
    }

    /** What never reached the handler has no key. */
    @Test
    void leavesNoRecordOfWhatCouldNotBeRead() {
        int before = server.bean(Ledger.class).records();

        assertThat(post("/orders/exactly", "{broken").status()).isEqualTo(400);
        assertThat(post("/orders/leased", "{broken").status()).isEqualTo(400);
        assertThat(server.bean(Ledger.class).records()).isEqualTo(before);
    }

    /** Path variables, headers and parts of the body in one key; case 127. */
    @Test
    void composesAKeyOfPathVariableAndHeader() {
        Answer first = server.post("/shops/a/orders/" + order, null, "{}", "X-Batch", "1");

        assertThat(server.post("/shops/a/orders/" + order, null, "{}", "X-Batch", "1")
                        .replayed())
                .isTrue();
        assertThat(server.post("/shops/a/orders/" + order, null, "{}", "X-Batch", "2")
                        .replayed())
                .isFalse();
        assertThat(server.post("/shops/b/orders/" + order, null, "{}", "X-Batch", "1")
                        .replayed())
                .isFalse();
        assertThat(first.status()).isEqualTo(200);
        assertThat(rows()).isEqualTo(3);
    }

    /** Only the part that the expression names is compared. */
    @Test
    void comparesWhatTheFingerprintNames() {
        post("/orders/by-amount", "{\"orderNo\":\"" + order + "\",\"amount\":5,\"note\":\"a\"}");

        assertThat(post("/orders/by-amount", "{\"amount\":5, \"note\":\"b\",\"orderNo\":\"" + order + "\"}")
                        .replayed())
                .isTrue();
        assertThat(post("/orders/by-amount", "{\"orderNo\":\"" + order + "\",\"amount\":6}")
                        .problem())
                .isEqualTo("key-reused");
    }

    /** The scope of such a key is the tenant alone: what differs in the request is found by the fingerprint. */
    @Test
    void comparesMethodAndPathAsWell() {
        post("/orders/either/a");
        byte[] body = body().getBytes(StandardCharsets.UTF_8);

        Answer otherPath = post("/orders/either/b");
        Answer otherMethod = server.send("PUT", "/orders/either/a", null, body, "Content-Type", "application/json");

        assertThat(otherPath.problem()).isEqualTo("key-reused");
        assertThat(otherPath.json().get("differences")).hasToString("[\"path\"]");
        assertThat(otherMethod.problem()).isEqualTo("key-reused");
        assertThat(otherMethod.json().get("differences")).hasToString("[\"method\"]");
        assertThat(post("/orders/either/a").replayed()).isTrue();
        assertThat(rows()).isEqualTo(1);
    }

    record Order(String orderNo, int amount, String note) {}

    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    static class Ledger {

        private final JdbcClient client;

        Ledger(DataSource dataSource) {
            client = JdbcClient.create(dataSource);
        }

        void write(String order) {
            client.sql("insert into ledger values (?)").param(order).update();
        }

        int rows(String order) {
            return client.sql("select count(*) from ledger where k = ?")
                    .param(order)
                    .query(Integer.class)
                    .single();
        }

        int records() {
            return client.sql("select count(*) from idempotency_record")
                    .query(Integer.class)
                    .single();
        }
    }

    @RestController
    static class Orders {

        private final Ledger ledger;
        private final Effects effects;

        Orders(Ledger ledger, Effects effects) {
            this.ledger = ledger;
            this.effects = effects;
        }

        private String place(String order) {
            int run = effects.add(order);
            IdempotencyContext.current().ifPresent(context -> effects.add("context of " + context.key()));
            ledger.write(order);
            effects.passStop(order);
            if (effects.of("fail " + order) > 0 && run == 1) {
                throw new IllegalStateException("failed on demand");
            }
            return "run " + run;
        }

        @PostMapping("/orders/exactly")
        @ResponseStatus(HttpStatus.CREATED)
        @Idempotent(key = "#order.orderNo")
        String exactly(@RequestBody Order order) {
            return place(order.orderNo());
        }

        @PostMapping("/orders/leased")
        @ResponseStatus(HttpStatus.CREATED)
        @Idempotent(
                key = "#order.orderNo",
                guarantee = Guarantee.AT_LEAST_ONCE,
                fingerprintScheme = FingerprintScheme.JSON)
        String leased(@RequestBody Order order) {
            return place(order.orderNo());
        }

        @PostMapping("/orders/callable")
        @ResponseStatus(HttpStatus.CREATED)
        @Idempotent(key = "#order.orderNo", guarantee = Guarantee.AT_LEAST_ONCE)
        Callable<String> callable(@RequestBody Order order) {
            return () -> place(order.orderNo());
        }

        @PostMapping("/orders/exactly-waiting")
        @ResponseStatus(HttpStatus.CREATED)
        @Idempotent(operation = "exactly-waiting", key = "#order.orderNo", waitAtMost = "30s")
        String exactlyWaiting(@RequestBody Order order) {
            return place(order.orderNo());
        }

        @PostMapping("/orders/leased-waiting")
        @ResponseStatus(HttpStatus.CREATED)
        @Idempotent(
                operation = "leased-waiting",
                key = "#order.orderNo",
                waitAtMost = "30s",
                guarantee = Guarantee.AT_LEAST_ONCE)
        String leasedWaiting(@RequestBody Order order) {
            return place(order.orderNo());
        }

        @PostMapping("/orders/refused")
        @Idempotent(key = "#order.orderNo")
        String refused(@RequestBody Order order) {
            place(order.orderNo());
            throw new Refused();
        }

        @ExceptionHandler
        ResponseEntity<String> handle(Refused refused) {
            return ResponseEntity.status(402).body("no funds");
        }

        @PostMapping("/orders/optional")
        @Idempotent(key = "#order.orderNo", required = Toggle.OFF, guarantee = Guarantee.AT_LEAST_ONCE)
        String optional(@RequestBody Order order) {
            return "done";
        }

        @PostMapping("/orders/optional-exactly")
        @Idempotent(operation = "optional-exactly", key = "#order.orderNo", required = Toggle.OFF)
        String optionalExactly(@RequestBody Order order) {
            return "done";
        }

        @PostMapping("/orders/by-amount")
        @Idempotent(operation = "by-amount", key = "#order.orderNo", fingerprint = "#order.amount")
        String byAmount(@RequestBody Order order) {
            return place(order.orderNo());
        }

        @RequestMapping(
                path = "/orders/either/{way}",
                method = {RequestMethod.POST, RequestMethod.PUT})
        @Idempotent(operation = "either", key = "#order.orderNo")
        String either(@PathVariable String way, @RequestBody Order order) {
            return place(order.orderNo());
        }

        @PostMapping("/shops/{shop}/orders/{number}")
        @Idempotent(operation = "composed", key = "{#shop, #number, #batch}")
        String composed(
                @PathVariable String shop,
                @PathVariable String number,
                @RequestHeader("X-Batch") String batch,
                Principal nobody) {
            return place(number);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({ExactlyOnceConfiguration.class, Orders.class})
    static class Database {

        @Bean
        DataSource dataSource() {
            DataSource database = ExactlyOnceConfiguration.h2();
            JdbcClient.create(database)
                    .sql("create table ledger (k varchar(255) not null)")
                    .update();
            return database;
        }

        @Bean
        Ledger ledger(DataSource dataSource) {
            return new Ledger(dataSource);
        }
    }
}
