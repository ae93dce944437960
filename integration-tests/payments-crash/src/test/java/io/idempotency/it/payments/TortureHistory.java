package io.idempotency.it.payments;

import io.idempotency.Guarantee;
import io.idempotency.it.payments.Client.Answer;
import io.idempotency.it.payments.Client.Payment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** What clients were told, and what came of it. */
final class TortureHistory {

    private static final Pattern PAYMENT = Pattern.compile("\"id\":(\\d+),\"account\":\"(key-\\d+)\"");
    private static final int ASKERS = 8;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Map<String, Told> told = new ConcurrentHashMap<>();
    private final Map<Integer, AtomicInteger> statuses = new ConcurrentHashMap<>();
    private final Set<String> unknown = ConcurrentHashMap.newKeySet();
    private final Set<String> lost = new TreeSet<>();

    /** @param fault what the client asked to go wrong */
    void answered(String key, Answer answer, @Nullable String fault) {
        count(answer.status());
        Told ofKey = told(key);
        if (answer.status() == 201) {
            ofKey.answers.add(answer.body());
        } else if (answer.status() >= 500 && (fault == null || !fault.startsWith("fail"))) {
            ofKey.failures.incrementAndGet();
        }
    }

    /** Nobody knows what became of the call. */
    void unanswered(String key) {
        count(0);
        told(key);
    }

    private Told told(String key) {
        return told.computeIfAbsent(key, it -> new Told());
    }

    private void count(int status) {
        statuses.computeIfAbsent(status, it -> new AtomicInteger()).incrementAndGet();
    }

    /** How many calls were answered with which status; 0 stands for no answer. */
    Map<Integer, AtomicInteger> statuses() {
        return new TreeMap<>(statuses);
    }

    /** Asks for every key until it has an answer for good. */
    void drain(Client client) {
        Map<String, Set<String>> payments = payments(client);
        lost.addAll(keys(key ->
                !payments.getOrDefault(key, Set.of()).containsAll(told(key).payments())));
        List<String> keys = List.copyOf(told.keySet());
        Callers.atOnce(ASKERS, number -> {
            for (int i = number; i < keys.size(); i += ASKERS) {
                Answer last = finalAnswer(client, keys.get(i));
                if (last.status() == 201) {
                    told(keys.get(i)).answers.add(last.body());
                } else {
                    unknown.add(keys.get(i));
                }
            }
            return number;
        });
    }

    /** Compares all that was ever answered with what is there. */
    TortureVerdict judge(Client client, Guarantee guarantee, TortureLog log) {
        Map<String, Set<String>> payments = payments(client);
        lost.addAll(keys(key ->
                !payments.getOrDefault(key, Set.of()).containsAll(told(key).payments())));
        Map<String, Long> unexplained = new HashMap<>();
        payments.forEach((key, ofKey) -> {
            long explained = guarantee == Guarantee.AT_LEAST_ONCE
                    ? log.takeovers(key) + told(key).failures.get()
                    : 0;
            unexplained.put(key, Math.max(0, ofKey.size() - 1 - explained));
        });
        return new TortureVerdict(
                told.size(),
                payments.values().stream().mapToLong(Set::size).sum(),
                keys(key -> payments.getOrDefault(key, Set.of()).size() > 1),
                keys(key -> unexplained.getOrDefault(key, 0L) > 0),
                unexplained.values().stream().mapToLong(it -> it).sum(),
                keys(key -> told(key).answers.size() > 1 + log.unstored(key)),
                List.copyOf(lost),
                List.copyOf(unknown),
                keys(key -> !payments.containsKey(key) && !unknown.contains(key)));
    }

    private static Answer finalAnswer(Client client, String key) {
        return Awaitility.await(key)
                .pollDelay(Duration.ZERO)
                .atMost(PATIENCE)
                .until(
                        () -> client.pay(key, new Payment(key, "1")),
                        answer -> answer.status() == 201 || answer.body().contains("outcome-unknown"));
    }

    private List<String> keys(Predicate<String> such) {
        return told.keySet().stream().filter(such).sorted().toList();
    }

    private static Map<String, Set<String>> payments(Client client) {
        Map<String, Set<String>> payments = new HashMap<>();
        Matcher payment = PAYMENT.matcher(client.get("/payments").body());
        while (payment.find()) {
            payments.computeIfAbsent(payment.group(2), it -> new HashSet<>()).add(payment.group(1));
        }
        return payments;
    }

    /** What the clients of one key were told. */
    private static final class Told {

        /** The different answers that told of success. */
        private final Set<String> answers = ConcurrentHashMap.newKeySet();

        /** Calls that failed without having been asked to. */
        private final AtomicInteger failures = new AtomicInteger();

        private Set<String> payments() {
            Set<String> payments = new HashSet<>();
            for (String answer : new ArrayList<>(answers)) {
                Matcher payment = PAYMENT.matcher(answer);
                payments.add(payment.find() ? payment.group(1) : answer);
            }
            return payments;
        }
    }
}
