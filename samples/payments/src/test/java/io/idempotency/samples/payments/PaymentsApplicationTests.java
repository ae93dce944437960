package io.idempotency.samples.payments;

import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;

@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = "spring.datasource.url=jdbc:h2:mem:payments;MODE=PostgreSQL")
class PaymentsApplicationTests {

    private final String account = "account-" + UUID.randomUUID();

    @LocalServerPort
    private int port;

    private RestTestClient client;

    @BeforeEach
    void connect() {
        client = RestTestClient.bindToServer()
                .baseUrl("http://localhost:" + port)
                .build();
    }

    @Test
    void makesAPaymentAndTakesItFromTheBalance() {
        pay(100).expectStatus()
                .isCreated()
                .expectHeader()
                .valueMatches("Location", "/payments/\\d+")
                .expectBody()
                .jsonPath("$.account")
                .isEqualTo(account)
                .jsonPath("$.status")
                .isEqualTo("COMPLETED");

        expectBalance(900);
    }

    @Test
    void refusesAnAmountThatIsNotPositive() {
        pay(0).expectStatus().isBadRequest().expectHeader().contentType(MediaType.APPLICATION_PROBLEM_JSON);

        expectBalance(1000);
    }

    @Test
    void refusesMoreThanTheBalance() {
        pay(1001).expectStatus().isEqualTo(402).expectHeader().contentType(MediaType.APPLICATION_PROBLEM_JSON);

        expectBalance(1000);
    }

    @Test
    void listsTheNewestPaymentFirst() {
        pay(1).expectStatus().isCreated();
        pay(2).expectStatus().isCreated();

        client.get()
                .uri("/payments")
                .exchange()
                .expectStatus()
                .isOk()
                .expectBody()
                .jsonPath("$[0].amount")
                .isEqualTo(2)
                .jsonPath("$[1].amount")
                .isEqualTo(1);
    }

    @Test
    void findsAPaymentAtItsLocation() {
        String location = pay(5).expectStatus()
                .isCreated()
                .returnResult(String.class)
                .getResponseHeaders()
                .getFirst("Location");

        client.get()
                .uri(location)
                .exchange()
                .expectStatus()
                .isOk()
                .expectBody()
                .jsonPath("$.account")
                .isEqualTo(account);
        client.get().uri("/payments/0").exchange().expectStatus().isNotFound();
    }

    // Redis is on the class path, and none is running.
    @Test
    void isHealthy() {
        client.get()
                .uri("/actuator/health")
                .exchange()
                .expectStatus()
                .isOk()
                .expectBody()
                .jsonPath("$.status")
                .isEqualTo("UP");
    }

    private RestTestClient.ResponseSpec pay(int amount) {
        return client.post()
                .uri("/payments")
                .header("Idempotency-Key", UUID.randomUUID().toString())
                .contentType(MediaType.APPLICATION_JSON)
                .body("{\"account\":\"%s\",\"amount\":%d,\"currency\":\"EUR\"}".formatted(account, amount))
                .exchange();
    }

    private void expectBalance(int balance) {
        client.get()
                .uri("/accounts/{name}", account)
                .exchange()
                .expectBody()
                .jsonPath("$.balance")
                .isEqualTo(balance);
    }
}
