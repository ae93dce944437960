package io.idempotency.it.payments;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.it.payments.Client.Answer;
import io.idempotency.it.payments.Client.Payment;
import io.idempotency.it.servers.Ports;
import io.idempotency.it.servers.RedisProcess;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The sample's profile {@code tiered}, at its door. Redis comes late and goes early, and nobody notices. */
class TieredProfileIT {

    @Test
    void redisMayBeThereOrNot() throws Exception {
        int port = Ports.free();
        Database.Instance database = Database.H2.create();
        Map<String, String> environment = new HashMap<>(database.environment());
        environment.put("SPRING_PROFILES_ACTIVE", "tiered");
        environment.put("REDIS_PORT", String.valueOf(port));
        try (PaymentsProcess process = PaymentsProcess.start(
                new Database.Instance(database.directory(), environment),
                "--management.endpoints.web.exposure.include=health,metrics")) {
            Client client = new Client(process);
            assertThat(process.output())
                    .contains("payment-controller-pay: EXACTLY_ONCE in tiered(redis, jdbc(H2 ")
                    .containsOnlyOnce("Redis cannot be reached");
            assertPaysOnce(client);

            RedisProcess redis = RedisProcess.startOn(port);
            try {
                await().atMost(90, TimeUnit.SECONDS).until(() -> {
                    assertPaysOnce(client);
                    return client.get("/actuator/metrics/idempotency.tier?tag=result:hit")
                                    .status()
                            == 200;
                });
            } finally {
                redis.kill();
            }

            assertPaysOnce(client);
        }
    }

    private static void assertPaysOnce(Client client) {
        String key = UUID.randomUUID().toString();
        Payment payment = new Payment("account-" + UUID.randomUUID(), "10");
        Answer first = client.pay(key, payment);
        assertThat(first.status()).isEqualTo(201);
        for (int i = 0; i < 3; i++) {
            Answer retry = client.pay(key, payment);
            assertThat(retry.body()).isEqualTo(first.body());
            assertThat(retry.replayed()).isTrue();
        }
        assertThat(client.paymentsOf(payment)).isEqualTo(1);
        assertThat(client.get("/actuator/health").status()).isEqualTo(200);
    }
}
