package io.idempotency.it.payments;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.it.payments.Client.Answer;
import io.idempotency.it.payments.Client.Payment;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two instances of the sample on one PostgreSQL. */
class TwoInstancesIT {

    private static final Pattern CREATED_AT = Pattern.compile("\"createdAt\":\"([^\"]+)\"");

    private static final List<String> EXPECTED = List.of(
            "first on A: 201",
            "retry on B: 201 replayed",
            "other payload on B: 422",
            "20 at once: 201 x 1, 409 with Retry-After x 19, payments 1",
            "later on A: 201 replayed",
            "later on B: 201 replayed",
            "failed on A: 500",
            "retry of the failed on B: 201");

    /** Case 49: the store's clock decides, so a wrong clock of an application server changes nothing. */
    @ParameterizedTest
    @ValueSource(strings = {"exactly-once", "at-least-once"})
    void case49ClocksOneHourAheadAndBehindChangeNoAnswer(String guarantee) {
        String property = "--idempotency.operations.payment-controller-pay.guarantee=" + guarantee;
        Database.Instance database = Database.POSTGRESQL.create();

        List<String> rightClocks;
        try (var a = PaymentsProcess.start(database, property);
                var b = PaymentsProcess.start(database, property)) {
            rightClocks = answers(new Client(a), new Client(b));
        }
        List<String> wrongClocks;
        try (var ahead = PaymentsProcess.startWithClockSkew(database, Duration.ofHours(1), property);
                var behind = PaymentsProcess.startWithClockSkew(database, Duration.ofHours(-1), property)) {
            assertClockIsWrong(new Client(ahead), Duration.ofHours(1));
            assertClockIsWrong(new Client(behind), Duration.ofHours(-1));
            wrongClocks = answers(new Client(ahead), new Client(behind));
        }

        assertThat(rightClocks).isEqualTo(EXPECTED);
        assertThat(wrongClocks).isEqualTo(rightClocks);
    }

    private static List<String> answers(Client a, Client b) {
        List<String> answers = new ArrayList<>();
        String key = newKey();
        Payment payment = newPayment();
        answers.add("first on A: " + describe(a.pay(key, payment)));
        answers.add("retry on B: " + describe(b.pay(key, payment)));
        answers.add("other payload on B: " + describe(b.pay(key, newPayment())));

        String contendedKey = newKey();
        Payment contended = newPayment();
        List<Answer> atOnce =
                Callers.atOnce(20, i -> (i % 2 == 0 ? a : b).pay(contendedKey, contended, "X-Simulate", "slow=3000"));
        answers.add("20 at once: 201 x %d, 409 with Retry-After x %d, payments %d"
                .formatted(
                        atOnce.stream().filter(it -> it.status() == 201).count(),
                        atOnce.stream()
                                .filter(it -> it.status() == 409
                                        && it.header("Retry-After").isPresent())
                                .count(),
                        a.paymentsOf(contended)));
        answers.add("later on A: " + describe(a.pay(contendedKey, contended)));
        answers.add("later on B: " + describe(b.pay(contendedKey, contended)));

        String failedKey = newKey();
        Payment failed = newPayment();
        answers.add("failed on A: " + describe(a.pay(failedKey, failed, "X-Simulate", "fail-before")));
        answers.add("retry of the failed on B: " + describe(b.pay(failedKey, failed)));
        return answers;
    }

    /** The sample stamps its payments by its own clock. */
    private static void assertClockIsWrong(Client client, Duration skew) {
        Matcher createdAt =
                CREATED_AT.matcher(client.pay(newKey(), newPayment()).body());
        assertThat(createdAt.find()).isTrue();
        assertThat(Duration.between(Instant.now().plus(skew), Instant.parse(createdAt.group(1)))
                        .abs())
                .isLessThan(Duration.ofMinutes(1));
    }

    private static String describe(Answer answer) {
        return answer.status() + (answer.replayed() ? " replayed" : "");
    }

    private static String newKey() {
        return UUID.randomUUID().toString();
    }

    private static Payment newPayment() {
        return new Payment("account-" + UUID.randomUUID(), "100");
    }
}
