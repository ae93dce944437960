package io.idempotency.it.payments;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.it.payments.Client.Answer;
import io.idempotency.it.payments.Client.Payment;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * 64 clients pay the same 200 keys, a few keys at a time and each client in its own order, until each of them has an answer to every key. Services fail before and
 * after the payment, and database connections are lost before and after statements and commits. The table of payments has no unique
 * constraint that could help: it must hold every key once.
 */
@Isolated("Its clients leave no processor to the processes that other tests start and wait for.")
class LedgerIT {

    private static final int CLIENTS = 64;
    private static final int KEYS = 200;
    private static final int KEYS_AT_ONCE = 10;
    private static final String LOSS_RATE = "0.005";
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final Pattern ACCOUNT = Pattern.compile("\"account\":\"(key-\\d+)\"");

    @ParameterizedTest
    @EnumSource
    void holdsEveryKeyOnceUnderRandomFailures(Database kind) {
        long seed = System.nanoTime();
        System.out.println(kind + ": seed " + seed);
        Database.Instance database = kind.create();
        // A database file of H2 belongs to one process.
        int instances = kind == Database.H2 ? 1 : 2;
        List<PaymentsProcess> processes = new ArrayList<>();
        try {
            for (int i = 0; i < instances; i++) {
                processes.add(PaymentsProcess.startWithFailpoints(
                        database, "--logging.level.org.apache.catalina.core.ContainerBase=off"));
            }
            List<Client> servers = processes.stream().map(Client::new).toList();
            servers.forEach(server -> server.get("/failpoints?loss=" + LOSS_RATE));
            Map<String, String> answers = new ConcurrentHashMap<>();
            Map<Integer, AtomicInteger> statuses = new ConcurrentHashMap<>();

            Callers.atOnce(CLIENTS, number -> {
                payAll(servers, new Random(seed + number), answers, statuses);
                return number;
            });

            servers.forEach(server -> server.get("/failpoints?loss=0"));
            System.out.println(kind + ": answers by status " + statuses);
            assertThat(answers).hasSize(KEYS);
            Map<String, Long> ledger = ledger(servers.get(0));
            assertThat(ledger).hasSize(KEYS);
            ledger.values().removeIf(payments -> payments == 1);
            assertThat(ledger).as("keys that were not paid once").isEmpty();
        } finally {
            processes.forEach(PaymentsProcess::close);
        }
    }

    private static void payAll(
            List<Client> servers, Random random, Map<String, String> answers, Map<Integer, AtomicInteger> statuses) {
        for (String key : keys(random)) {
            String body = payUntilAnswered(servers, key, random, statuses);
            String other = answers.putIfAbsent(key, body);
            if (other != null) {
                assertThat(body).isEqualTo(other);
            }
        }
    }

    /** All clients are busy with the same few keys at a time, each in its own order. */
    private static List<String> keys(Random random) {
        List<String> keys = new ArrayList<>(
                IntStream.range(0, KEYS).mapToObj(i -> "key-" + i).toList());
        for (int from = 0; from < KEYS; from += KEYS_AT_ONCE) {
            Collections.shuffle(keys.subList(from, from + KEYS_AT_ONCE), random);
        }
        return keys;
    }

    private static String payUntilAnswered(
            List<Client> servers, String key, Random random, Map<Integer, AtomicInteger> statuses) {
        long start = System.nanoTime();
        Answer answer = null;
        while (System.nanoTime() - start < PATIENCE.toNanos()) {
            answer = attempt(servers.get(random.nextInt(servers.size())), key, random);
            int status = answer == null ? 0 : answer.status();
            statuses.computeIfAbsent(status, it -> new AtomicInteger()).incrementAndGet();
            if (answer != null && status == 201) {
                return answer.body();
            }
            assertThat(status).as(String.valueOf(answer)).isIn(0, 409, 500, 503);
            pause(random.nextInt(100));
        }
        throw new AssertionError("no payment of " + key + ", last answer " + answer + ", by status " + statuses);
    }

    private static @Nullable Answer attempt(Client server, String key, Random random) {
        Payment payment = new Payment(key, "1");
        try {
            return switch (random.nextInt(10)) {
                case 0, 1 -> server.tryToPay(key, payment, "X-Simulate", "fail-before");
                case 2, 3, 4 -> server.tryToPay(key, payment, "X-Simulate", "fail-after");
                case 5, 6 -> server.tryToPay(key, payment, "X-Simulate", "slow=30");
                default -> server.tryToPay(key, payment);
            };
        } catch (IOException e) {
            return null;
        }
    }

    private static Map<String, Long> ledger(Client client) {
        return ACCOUNT.matcher(client.get("/payments").body())
                .results()
                .map((MatchResult match) -> match.group(1))
                .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    }

    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
