package io.idempotency.it.payments;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.it.payments.Client.Answer;
import io.idempotency.it.payments.Client.Payment;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Halts the process after each JDBC call of a first payment that changes or locks something, in the long form before and after each of
 * all calls, restarts it and retries: there is always one payment, and the answer is the stored one. Every process first answers for the
 * death of the one before it, then dies at the next point.
 */
@Execution(ExecutionMode.CONCURRENT)
class CrashAnywhereIT {

    private static final boolean EVERY_FAILPOINT = Boolean.getBoolean("idempotency.test.every-failpoint");
    private static final Pattern LEAVES_NO_TRACE =
            Pattern.compile("(call|set) lock_timeout|select record_version|setAutoCommit false");
    private static final int EXIT_CODE_OF_FAILPOINT = 99;

    @ParameterizedTest
    @EnumSource
    void oneCommittedPaymentWhereverTheProcessDies(Database kind) {
        Database.Instance database = kind.create();
        List<String> calls = callsOfAFirstPayment(database);
        List<String> failpoints = failpoints(calls);
        List<Boolean> replayed = new ArrayList<>();

        Attempt interrupted = null;
        for (String failpoint : failpoints) {
            interrupted = retryThenDie(database, interrupted, failpoint, replayed);
        }
        try (var process = PaymentsProcess.startWithFailpoints(database)) {
            replayed.add(retry(new Client(process), interrupted));
        }

        var report = new StringBuilder(kind + ": one first POST /payments is " + calls.size() + " JDBC calls\n");
        for (int i = 0; i < failpoints.size(); i++) {
            String failpoint = failpoints.get(i);
            report.append("%-9s %s: %s%n".formatted(failpoint, callOf(failpoint, calls), outcome(replayed.get(i))));
        }
        System.out.println(report);
        // Until the business commit a retry pays, from then on it is a replay: nothing in between.
        assertThat(replayed).as(report.toString()).isSorted().contains(false, true);
    }

    // The short form leaves out what is a death after an earlier call to the database: one that comes before a call, or
    // after one that
    // has only read or set something.
    private static List<String> failpoints(List<String> calls) {
        List<String> failpoints = new ArrayList<>();
        for (int n = 1; n <= calls.size(); n++) {
            if (n == 1 || EVERY_FAILPOINT) {
                failpoints.add("before " + n);
            }
            if (EVERY_FAILPOINT || !LEAVES_NO_TRACE.matcher(calls.get(n - 1)).lookingAt()) {
                failpoints.add("after " + n);
            }
        }
        return failpoints;
    }

    private static String callOf(String failpoint, List<String> calls) {
        return calls.get(Integer.parseInt(failpoint.substring(failpoint.indexOf(' ') + 1)) - 1);
    }

    private static List<String> callsOfAFirstPayment(Database.Instance database) {
        try (var process = PaymentsProcess.startWithFailpoints(database)) {
            var client = new Client(process);
            assertThat(pay(client, new Attempt("warm-up")).status()).isEqualTo(201);
            assertThat(pay(client, new Attempt("counted"), "X-Failpoint", "count")
                            .status())
                    .isEqualTo(201);
            return client.get("/failpoints").body().lines().toList();
        }
    }

    private static Attempt retryThenDie(
            Database.Instance database, @Nullable Attempt interrupted, String failpoint, List<Boolean> replayed) {
        try (var process = PaymentsProcess.startWithFailpoints(database)) {
            var client = new Client(process);
            if (interrupted != null) {
                replayed.add(retry(client, interrupted));
            }
            var attempt = new Attempt(failpoint);
            assertThatThrownBy(() -> client.tryToPay(attempt.key(), attempt.payment(), "X-Failpoint", failpoint))
                    .as(failpoint)
                    .isInstanceOf(IOException.class);
            assertThat(process.awaitExit()).as(failpoint).isEqualTo(EXIT_CODE_OF_FAILPOINT);
            return attempt;
        }
    }

    /** Retries as a client does, and tells whether the answer was a replay. */
    private static boolean retry(Client client, Attempt attempt) {
        Answer answer = Awaitility.await(attempt.name())
                .atMost(Duration.ofSeconds(10))
                .until(() -> pay(client, attempt), it -> it.status() != 409);

        assertThat(answer.status()).as("%s: %s", attempt, answer).isEqualTo(201);
        assertThat(client.get(answer.header("Location").orElseThrow()).body())
                .as(attempt.name())
                .isEqualTo(answer.body());
        assertThat(client.paymentsOf(attempt.payment())).as(attempt.name()).isEqualTo(1);
        assertThat(client.balance(attempt.payment().account()))
                .as(attempt.name())
                .contains("\"balance\":900.00");
        Answer again = pay(client, attempt);
        assertThat(again.replayed()).as(attempt.name()).isTrue();
        assertThat(again.body()).as(attempt.name()).isEqualTo(answer.body());
        return answer.replayed();
    }

    private static Answer pay(Client client, Attempt attempt, String... headers) {
        return client.pay(attempt.key(), attempt.payment(), headers);
    }

    private static String outcome(boolean replayed) {
        return replayed ? "replayed" : "paid by the retry";
    }

    private record Attempt(String name, String key, Payment payment) {

        Attempt(String name) {
            this(name, UUID.randomUUID().toString(), new Payment("account-" + UUID.randomUUID(), "100"));
        }
    }
}
