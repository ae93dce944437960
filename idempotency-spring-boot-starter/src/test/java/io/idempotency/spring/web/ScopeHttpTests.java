package io.idempotency.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Cases 25, 93 and 94: what belongs to the key and what to the payload. */
class ScopeHttpTests {

    private final TestServer server = Servers.leased();
    private final String key = TestServer.newKey();

    private Answer send(String method, String path) {
        return server.send(
                method, path, key, "{}".getBytes(StandardCharsets.US_ASCII), "Content-Type", "application/json");
    }

    /** Case 93. */
    @Test
    void givesEveryMethodPathAndPathVariableARecordOfItsOwn() {
        String[][] requests = {
            {"POST", "/cases/orders"},
            {"POST", "/cases/refunds"},
            {"PATCH", "/cases/orders"},
            {"PUT", "/cases/orders"},
            {"POST", "/cases/orders/1/pay"},
            {"POST", "/cases/orders/2/pay"},
            {"POST", "/cases/orders/a%2Fb/pay"}
        };
        for (int i = 0; i < requests.length; i++) {
            Answer answer = send(requests[i][0], requests[i][1]);

            assertThat(answer.status()).as(String.join(" ", requests[i])).isIn(201, 400);
            assertThat(answer.replayed()).isFalse();
        }
        assertThat(send("POST", "/cases/orders/2/pay").text()).contains("pay-2");
        assertThat(send("POST", "/cases/orders/1/pay").text()).contains("pay-1");
        assertThat(send("PATCH", "/cases/orders").text()).contains("patched");
    }

    /** Case 93: another query is another payload; the order of its parameters does not matter, the order of equal names does. */
    @Test
    void comparesTheQuery() {
        send("POST", "/cases/orders?a=1&b=2&b=3");

        assertThat(send("POST", "/cases/orders?b=2&a=1&b=3").replayed()).isTrue();
        assertThat(send("POST", "/cases/orders?a=%31&b=2&b=3").replayed()).isTrue();
        assertThat(send("POST", "/cases/orders?a=1&b=3&b=2").problem()).isEqualTo("key-reused");
        assertThat(send("POST", "/cases/orders?a=1&b=2").problem()).isEqualTo("key-reused");
        assertThat(send("POST", "/cases/orders").problem()).isEqualTo("key-reused");
        assertThat(send("POST", "/cases/orders?dry=true").problem()).isEqualTo("key-reused");
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 93: matrix parameters are payload, the session id among them is nothing. */
    @Test
    void comparesMatrixParameters() {
        send("POST", "/cases/orders/1;color=red/pay");

        assertThat(send("POST", "/cases/orders/1;color=red;jsessionid=ABC/pay").replayed())
                .isTrue();
        assertThat(send("POST", "/cases/orders/1;color=blue/pay").problem()).isEqualTo("key-reused");
        assertThat(send("POST", "/cases/orders/1/pay").problem()).isEqualTo("key-reused");
        assertThat(send("POST", "/cases;color=red/orders/1/pay").problem())
                .as("wherever they stand")
                .isEqualTo("key-reused");
    }

    @Test
    void doesNotMindHowAPathIsEncoded() {
        send("POST", "/cases/orders/1/pay");

        assertThat(send("POST", "/cases/%6Frders/%31/pay").replayed()).isTrue();
    }

    /** Case 93: Spring MVC has no handler for the path with a slash at its end. */
    @Test
    void leavesATrailingSlashToSpring() {
        send("POST", "/cases/orders");

        assertThat(send("POST", "/cases/orders/").status()).isEqualTo(404);
    }

    /** Case 94. */
    @Test
    void refusesAnotherPayloadAndLeavesTheFirstAnswerAlone() {
        Answer first = server.post("/cases/orders", key, "{\"amount\":10,\"secret\":\"s3cr3t\"}");
        Answer other = server.post("/cases/orders", key, "{\"amount\":99}");
        Answer otherType = server.post(
                "/cases/orders", key, "{\"amount\":10,\"secret\":\"s3cr3t\"}", "Content-Type", "text/plain");
        Answer again = server.post(
                "/cases/orders",
                key,
                "{\"amount\":10,\"secret\":\"s3cr3t\"}",
                "User-Agent",
                "other",
                "traceparent",
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

        assertThat(other.status()).isEqualTo(422);
        assertThat(other.problem()).isEqualTo("key-reused");
        assertThat(other.text()).doesNotContain("s3cr3t", "order", key);
        assertThat(other.headers("Location")).isEmpty();
        assertThat(otherType.problem()).isEqualTo("key-reused");
        assertThat(again.replayed()).isTrue();
        assertThat(again.body()).isEqualTo(first.body());
        assertThat(server.effects().of(key)).isEqualTo(1);
    }

    /** Case 94: parameters of the media type do not matter. */
    @Test
    void doesNotCompareTheCharsetOfTheMediaType() {
        server.post("/cases/orders", key, "{}", "Content-Type", "application/json");

        assertThat(server.post("/cases/orders", key, "{}", "Content-Type", "Application/JSON; charset=UTF-8")
                        .replayed())
                .isTrue();
    }

    /** Case 25. */
    @Test
    void refusesAnotherPayloadAlsoWhileTheFirstCallRuns() {
        Answer whileRunning;
        var first = (java.util.concurrent.CompletableFuture<Answer>) null;
        try (Effects.Stop stop = server.effects().stop(key)) {
            first = server.postLater("/cases/orders", key, "{\"p\":1}");
            stop.awaitArrival();
            whileRunning = server.post("/cases/orders", key, "{\"p\":2}");
        }
        assertThat(first.join().status()).isEqualTo(201);

        assertThat(whileRunning.status()).isEqualTo(422);
        assertThat(server.post("/cases/orders", key, "{\"p\":2}").status()).isEqualTo(422);
        assertThat(server.post("/cases/orders", key, "{\"p\":1}").replayed()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"b\":[1.0,true],\"a\":1e2} | true",
                " { \"a\" : 100, \"b\" : [ 1, true ] } | true",
                "{\"a\":100,\"b\":[true,1]} | false",
                "{\"a\":100.1,\"b\":[1,true]} | false",
                "{\"a\":100,\"b\":[1,true],\"b\":[1,true]} | false",
                "{\"a\":100,\"b\":[1,true] | false"
            })
    void comparesJsonByValueWhereThatIsTheScheme(String body, boolean same) {
        server.post("/cases/json", key, "{\"a\":100,\"b\":[1,true]}");
        Answer again = server.post("/cases/json", key, body);

        assertThat(again.replayed()).isEqualTo(same);
        assertThat(again.status()).isEqualTo(same ? 201 : 422);
    }

    @Test
    void comparesNothingWhereThatIsTheScheme() {
        server.post("/cases/uncompared", key, "{\"a\":1}");

        assertThat(server.post("/cases/uncompared?x=1", key, "{\"a\":2}").replayed())
                .isTrue();
    }
}
