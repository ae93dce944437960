package io.idempotency.it.payments;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.idempotency.it.payments.Client.Answer;
import io.idempotency.it.payments.Client.Payment;
import io.idempotency.it.servers.RedisProcess;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The sample's profile {@code redis}, at its door, with a Redis that fails in every way. */
class RedisProfileIT {

    private static RedisProcess redis;
    private static Path directory;
    private static PaymentsProcess process;
    private static Client client;

    // Case 37: eviction is said once, and is no reason not to start.
    @BeforeAll
    static void start() {
        redis = RedisProcess.start(
                "--maxmemory-policy", "allkeys-lru", "--appendonly", "yes", "--appendfsync", "always");
        Database.Instance database = Database.H2.create();
        Map<String, String> environment = new HashMap<>(database.environment());
        environment.put("SPRING_PROFILES_ACTIVE", "redis");
        environment.put("REDIS_PORT", String.valueOf(redis.port()));
        directory = database.directory();
        process = PaymentsProcess.start(
                new Database.Instance(directory, environment),
                "--management.endpoints.web.exposure.include=health,metrics",
                "--management.endpoint.health.show-details=always");
        client = new Client(process);
    }

    @AfterAll
    static void stop() {
        process.close();
        redis.close();
    }

    @AfterEach
    void memory() {
        redis.say("CONFIG SET maxmemory 0");
    }

    private static Payment payment() {
        return new Payment("account-" + UUID.randomUUID(), "10");
    }

    private static String newKey() {
        return UUID.randomUUID().toString();
    }

    private static void assertStoreUnavailable(Answer answer) {
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.body()).contains("\"code\":\"store-unavailable\"");
        assertThat(answer.header("Retry-After")).hasValue("1");
    }

    @Test
    void saysWhatItIs() {
        assertThat(process.output())
                .contains("payment-controller-pay: AT_LEAST_ONCE in redis")
                .containsOnlyOnce("maxmemory-policy allkeys-lru");
        assertThat(client.get("/actuator/health").body())
                .contains("\"store\":\"redis\"", "\"redis.version\":\"7.0.15\"", "allkeys-lru");
    }

    @Test
    void retryGetsTheFirstAnswerAndAnotherPayloadNone() {
        String key = newKey();
        Payment payment = payment();
        Answer first = client.pay(key, payment);

        Answer retry = client.pay(key, payment);

        assertThat(first.status()).isEqualTo(201);
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(retry.replayed()).isTrue();
        assertThat(client.pay(key, new Payment(payment.account(), "11")).status())
                .isEqualTo(422);
        assertThat(client.paymentsOf(payment)).isEqualTo(1);
    }

    // Case 34.
    @Test
    void deadRedisIsRefusedVisiblyAndServesAgainWithoutARestart() {
        String done = newKey();
        Payment payment = payment();
        Answer first = client.pay(done, payment);
        redis.kill();
        try {
            Payment refused = payment();
            assertStoreUnavailable(client.pay(newKey(), refused));
            assertStoreUnavailable(client.pay(done, payment));
            assertThat(client.get("/payments").status()).isEqualTo(200);
            assertThat(client.paymentsOf(refused)).isZero();
            assertThat(client.get("/actuator/health").status()).isEqualTo(503);
        } finally {
            redis.restart();
        }

        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> client.get("/actuator/health").status() == 200);
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> client.pay(newKey(), payment()).status() == 201);
        assertThat(client.pay(done, payment).body()).isEqualTo(first.body());
        assertThat(client.paymentsOf(payment)).isEqualTo(1);
    }

    // Case 37.
    @Test
    void fullRedisRefusesNewWorkAndWhoHasWorkedGetsHisAnswer() throws Exception {
        String key = newKey();
        Payment payment = payment();
        redis.say("CONFIG SET maxmemory-policy noeviction");
        try {
            CompletableFuture<Answer> running =
                    CompletableFuture.supplyAsync(() -> client.pay(key, payment, "X-Simulate", "slow=3000"));
            await().atMost(60, TimeUnit.SECONDS)
                    .until(() -> client.pay(key, payment).status() == 409);
            redis.say("CONFIG SET maxmemory 1");
            Payment refused = payment();

            assertStoreUnavailable(client.pay(newKey(), refused));

            assertThat(client.paymentsOf(refused)).isZero();
            assertThat(running.get(60, TimeUnit.SECONDS).status()).isEqualTo(201);
            redis.say("CONFIG SET maxmemory 0");
            assertThat(client.pay(key, payment).body()).contains("\"code\":\"in-progress\"");
            assertThat(client.paymentsOf(payment)).isEqualTo(1);
        } finally {
            redis.say("CONFIG SET maxmemory-policy allkeys-lru");
        }
        assertThat(client.get("/actuator/metrics/idempotency.complete.failed").status())
                .isEqualTo(200);
    }

    // Case 39.
    @Test
    void ownerWhoseRecordWasFlushedNoticesItAndTheSecondOneCounts() throws Exception {
        String key = newKey();
        Payment payment = payment();
        CompletableFuture<Answer> first =
                CompletableFuture.supplyAsync(() -> client.pay(key, payment, "X-Simulate", "slow=3000"));
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> client.pay(key, payment).status() == 409);
        redis.say("FLUSHALL");
        CompletableFuture<Answer> second =
                CompletableFuture.supplyAsync(() -> client.pay(key, payment, "X-Simulate", "slow=6000"));
        await().atMost(60, TimeUnit.SECONDS).until(() -> redis.say("DBSIZE").equals(":1\r\n"));

        Answer ofFirst = first.get(60, TimeUnit.SECONDS);
        Answer ofSecond = second.get(60, TimeUnit.SECONDS);

        assertThat(ofFirst.body()).contains("\"code\":\"in-progress\"");
        assertThat(ofSecond.status()).isEqualTo(201);
        Answer replay = client.pay(key, payment);
        assertThat(replay.body()).isEqualTo(ofSecond.body());
        assertThat(replay.replayed()).isTrue();
        assertThat(client.get("/actuator/metrics/idempotency.lease.lost").body())
                .contains("payment-controller-pay");
    }
}
