package io.idempotency.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.samples.payments.PaymentsApplication;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The sample with its profile {@code mariadb}. */
class MariaDbPaymentsTests {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @Test
    void oneKeyIsOnePaymentAlsoWhenEverybodyAsksAtOnce() throws Exception {
        try (TestDatabase database = TestDatabase.of(MariaDbDriver.NAME)) {
            database.execute("drop table idempotency_record");
            try (ConfigurableApplicationContext application = new SpringApplicationBuilder(PaymentsApplication.class)
                    .profiles("mariadb")
                    .properties("server.port=0")
                    .run(
                            "--spring.datasource.url=" + database.url(),
                            "--spring.datasource.username=root",
                            "--spring.datasource.hikari.maximum-pool-size=16")) {
                String port = application.getEnvironment().getProperty("local.server.port");
                String key = UUID.randomUUID().toString();

                List<HttpResponse<String>> answers = Bench.race(8, index -> pay(port, key));
                HttpResponse<String> retry = pay(port, key);

                assertThat(answers)
                        .extracting(HttpResponse::statusCode)
                        .containsOnly(201, 409)
                        .contains(201);
                assertThat(retry.statusCode()).isEqualTo(201);
                assertThat(retry.headers().firstValue("Idempotent-Replayed")).contains("true");
                assertThat(answers)
                        .filteredOn(answer -> answer.statusCode() == 201)
                        .extracting(HttpResponse::body)
                        .containsOnly(retry.body());
                assertThat(database.number("select count(*) from payment")).isEqualTo(1);
                assertThat(database.number("select balance from account")).isEqualTo(900);
                assertThat(application.getBean(JdbcIdempotencyStore.class).name())
                        .startsWith("jdbc(MariaDB ");
            }
        }
    }

    private static HttpResponse<String> pay(String port, String key) throws Exception {
        return CLIENT.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/payments"))
                        .header("Idempotency-Key", key)
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(
                                "{\"account\": \"ada\", \"amount\": 100, \"currency\": \"EUR\"}"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }
}
