package io.idempotency.it.payments;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.it.payments.Client.Answer;
import io.idempotency.it.payments.Client.Payment;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What anybody can see with curl, on each database. */
@ParameterizedClass
@EnumSource
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PaymentsDoorIT {

    @Parameter
    private Database kind;

    private Database.Instance database;
    private PaymentsProcess process;
    private Client client;

    @BeforeParameterizedClassInvocation
    void createDatabaseAndStart() {
        database = kind.create();
        start();
    }

    private void start() {
        process = PaymentsProcess.start(database);
        client = new Client(process);
    }

    @AfterParameterizedClassInvocation
    void stop() {
        process.close();
    }

    @Test
    void firstCallPays() {
        String account = newAccount();

        Answer answer = client.pay(newKey(), new Payment(account, "100"));

        assertThat(answer.status()).isEqualTo(201);
        assertThat(answer.replayed()).isFalse();
        assertThat(client.get(answer.header("Location").orElseThrow()).body()).isEqualTo(answer.body());
        assertThat(client.balance(account)).contains("\"balance\":900.00");
    }

    @Test
    void retryGetsTheSameBytesAndLocation() {
        String key = newKey();
        Payment payment = new Payment(newAccount(), "100");
        Answer first = client.pay(key, payment);

        Answer retry = client.pay(key, payment);

        assertThat(retry.status()).isEqualTo(201);
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(retry.header("Location")).isEqualTo(first.header("Location"));
        assertThat(retry.header("Content-Type")).isEqualTo(first.header("Content-Type"));
        assertThat(retry.replayed()).isTrue();
        assertThat(client.paymentsOf(payment)).isEqualTo(1);
    }

    @Test
    void otherPayloadUnderTheSameKeyIsRefused() {
        String key = newKey();
        String account = newAccount();
        Answer first = client.pay(key, new Payment(account, "100"));

        Answer other = client.pay(key, new Payment(account, "101"));

        assertProblem(other, 422, "key-reused");
        assertThat(other.body()).doesNotContain(account, key);
        assertThat(client.pay(key, new Payment(account, "100")).body()).isEqualTo(first.body());
        assertThat(client.paymentsOf(new Payment(account, "100"))).isEqualTo(1);
    }

    @Test
    void keyIsRequired() {
        Payment payment = new Payment(newAccount(), "100");

        assertProblem(client.payWithoutKey(payment), 400, "key-missing");

        assertThat(client.paymentsOf(payment)).isZero();
    }

    @Test
    void malformedKeysAreRefused() {
        Payment payment = new Payment(newAccount(), "100");

        for (String key : List.of("", "   ", "\"\"", "k".repeat(256), "\"unterminated", "two words")) {
            Answer answer = client.pay(key, payment);
            assertProblem(answer, 400, "key-invalid");
        }

        assertThat(client.paymentsOf(payment)).isZero();
        assertThat(client.pay("k".repeat(219) + newKey(), payment).status()).isEqualTo(201);
    }

    @Test
    void quotedKeyIsTheBareKey() {
        String key = newKey();
        Payment payment = new Payment(newAccount(), "100");
        Answer bare = client.pay(key, payment);

        Answer quoted = client.pay('"' + key + '"', payment);

        assertThat(quoted.body()).isEqualTo(bare.body());
        assertThat(quoted.replayed()).isTrue();
    }

    @Test
    void twentyAtOnceAreOnePayment() {
        String key = newKey();
        Payment payment = new Payment(newAccount(), "100");

        List<Answer> answers = Callers.atOnce(20, i -> client.pay(key, payment, "X-Simulate", "slow=2000"));

        assertOnePaidAndTheOthersInProgress(answers);
        assertThat(client.paymentsOf(payment)).isEqualTo(1);
        Answer late = client.pay(key, payment);
        assertThat(late.status()).isEqualTo(201);
        assertThat(late.replayed()).isTrue();
    }

    @Test
    void failureBeforeThePaymentLeavesTheKeyFree() {
        assertFailureLeavesNothing("fail-before");
    }

    @Test
    void case60FailureAfterThePaymentRollsBackAndTheRetryRuns() {
        assertFailureLeavesNothing("fail-after");
    }

    private void assertFailureLeavesNothing(String simulation) {
        String key = newKey();
        Payment payment = new Payment(newAccount(), "100");

        Answer failed = client.pay(key, payment, "X-Simulate", simulation);

        assertThat(failed.status()).isEqualTo(500);
        assertThat(client.paymentsOf(payment)).isZero();
        assertThat(client.balance(payment.account())).contains("\"balance\":1000.00");
        Answer retry = client.pay(key, payment);
        assertThat(retry.status()).isEqualTo(201);
        assertThat(retry.replayed()).isFalse();
        assertThat(client.paymentsOf(payment)).isEqualTo(1);
    }

    @Test
    void insufficientFundsAreReplayed() {
        String key = newKey();
        Payment payment = new Payment(newAccount(), "1000.01");
        Answer first = client.pay(key, payment);

        Answer retry = client.pay(key, payment);

        assertThat(first.status()).isEqualTo(402);
        assertThat(first.header("Content-Type")).hasValue("application/problem+json");
        assertThat(first.replayed()).isFalse();
        assertThat(retry.status()).isEqualTo(402);
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(retry.replayed()).isTrue();
        assertThat(client.paymentsOf(payment)).isZero();
    }

    @Test
    void invalidRequestIsNotRecorded() {
        String key = newKey();
        String account = newAccount();

        Answer invalid = client.pay(key, new Payment(account, "0"));

        assertThat(invalid.status()).isEqualTo(400);
        assertThat(client.pay(key, new Payment(account, "0")).replayed()).isFalse();
        assertThat(client.pay(key, new Payment(account, "1")).status()).isEqualTo(201);
    }

    @Test
    void readsArePassedThrough() {
        Payment payment = new Payment(newAccount(), "1");
        client.pay(newKey(), payment);

        assertThat(client.get("/payments").status()).isEqualTo(200);
        assertThat(client.get("/payments/0").status()).isEqualTo(404);
        assertThat(client.get("/actuator/health").body()).contains("\"status\":\"UP\"");
    }

    @Test
    void crashBeforeTheCommitLeavesNothingAndTheRetryPays() {
        String key = newKey();
        Payment payment = new Payment(newAccount(), "100");

        crash(key, payment, "crash");
        start();

        assertThat(client.paymentsOf(payment)).isZero();
        Answer retry = payWithinSeconds(key, payment);
        assertThat(retry.replayed()).isFalse();
        assertThat(client.paymentsOf(payment)).isEqualTo(1);
        assertThat(client.balance(payment.account())).contains("\"balance\":900.00");
    }

    @Test
    void crashAfterTheCommitIsAnsweredFromTheRecord() {
        String key = newKey();
        Payment payment = new Payment(newAccount(), "100");

        crash(key, payment, "crash-after-commit");
        start();

        assertThat(client.paymentsOf(payment)).isEqualTo(1);
        Answer retry = payWithinSeconds(key, payment);
        assertThat(retry.replayed()).isTrue();
        assertThat(client.get(retry.header("Location").orElseThrow()).body()).isEqualTo(retry.body());
        assertThat(client.paymentsOf(payment)).isEqualTo(1);
    }

    private void crash(String key, Payment payment, String simulation) {
        assertThatThrownBy(() -> client.tryToPay(key, payment, "X-Simulate", simulation))
                .isInstanceOf(IOException.class);
        assertThat(process.awaitExit()).isEqualTo(137);
    }

    private Answer payWithinSeconds(String key, Payment payment) {
        return Awaitility.await()
                .atMost(Duration.ofSeconds(5))
                .until(() -> client.pay(key, payment), answer -> answer.status() == 201);
    }

    private static void assertOnePaidAndTheOthersInProgress(List<Answer> answers) {
        assertThat(answers).filteredOn(answer -> answer.status() == 201).hasSize(1);
        assertThat(answers).filteredOn(answer -> answer.status() != 201).allSatisfy(answer -> {
            assertProblem(answer, 409, "in-progress");
            assertThat(answer.header("Retry-After").map(Integer::parseInt).orElseThrow())
                    .isPositive();
        });
    }

    private static void assertProblem(Answer answer, int status, String code) {
        assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
        assertThat(answer.header("Content-Type")).hasValue("application/problem+json");
        assertThat(answer.body()).contains("\"code\":\"" + code + "\"", "\"type\":\"urn:idempotency:" + code + "\"");
        assertThat(answer.replayed()).isFalse();
    }

    private static String newKey() {
        return UUID.randomUUID().toString();
    }

    private static String newAccount() {
        return "account-" + UUID.randomUUID();
    }
}
