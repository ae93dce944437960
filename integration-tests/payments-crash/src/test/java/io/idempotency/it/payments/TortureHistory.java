package io.idempotency.it.payments;

import io.idempotency.it.payments.Client.Answer;
import io.idempotency.it.payments.Client.Payment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/** What clients were told, and what came of it. */
final class TortureHistory {

    private static final Pattern ACCOUNT = Pattern.compile("\"account\":\"(key-\\d+)\"");
    private static final int ASKERS = 8;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Map<String, Set<String>> answers = new ConcurrentHashMap<>();
    private final Map<Integer, AtomicInteger> statuses = new ConcurrentHashMap<>();
    private final AtomicLong calls = new AtomicLong();

    void answered(String key, Answer answer) {
        count(answer.status());
        Set<String> told = answers.computeIfAbsent(key, it -> ConcurrentHashMap.newKeySet());
        if (answer.status() == 201) {
            told.add(answer.body());
        }
    }

    /** Nobody knows what became of the call. */
    void lost(String key) {
        count(0);
        answers.computeIfAbsent(key, it -> ConcurrentHashMap.newKeySet());
    }

    private void count(int status) {
        calls.incrementAndGet();
        statuses.computeIfAbsent(status, it -> new AtomicInteger()).incrementAndGet();
    }

    /** Asks for every key until it has an answer for good, and compares that and all earlier ones with what is there. */
    Verdict judge(Client client) {
        Set<String> told = answers.entrySet().stream()
                .filter(entry -> !entry.getValue().isEmpty())
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        Map<String, Long> before = payments(client);
        Set<String> unknown = ConcurrentHashMap.newKeySet();
        List<String> keys = List.copyOf(answers.keySet());
        Callers.atOnce(ASKERS, number -> {
            for (int i = number; i < keys.size(); i += ASKERS) {
                Answer last = finalAnswer(client, keys.get(i));
                if (last.status() == 201) {
                    answers.get(keys.get(i)).add(last.body());
                } else {
                    unknown.add(keys.get(i));
                }
            }
            return number;
        });
        Map<String, Long> after = payments(client);
        return new Verdict(
                calls.get(),
                new TreeMap<>(statuses),
                answers.size(),
                keys(told, key -> !before.containsKey(key)),
                keys(answers.keySet(), key -> answers.get(key).size() > 1),
                keys(after.keySet(), key -> after.get(key) > 1),
                List.copyOf(unknown),
                keys(answers.keySet(), key -> !after.containsKey(key) && !unknown.contains(key)));
    }

    private static Answer finalAnswer(Client client, String key) {
        return Awaitility.await(key)
                .pollDelay(Duration.ZERO)
                .atMost(PATIENCE)
                .until(
                        () -> client.pay(key, new Payment(key, "1")),
                        answer -> answer.status() == 201 || answer.body().contains("outcome-unknown"));
    }

    private static List<String> keys(Set<String> of, Predicate<String> such) {
        return of.stream().filter(such).sorted().toList();
    }

    private static Map<String, Long> payments(Client client) {
        return ACCOUNT.matcher(client.get("/payments").body())
                .results()
                .map((MatchResult match) -> match.group(1))
                .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    }

    /**
     * What was found.
     *
     * @param lost keys that were answered with success and had no payment
     * @param differing keys whose successful answers are not all the same
     * @param twice keys with more than one payment
     * @param unknown keys that are answered with {@code outcome-unknown} for good
     * @param silent keys without a payment and without an unknown outcome
     */
    record Verdict(
            long calls,
            Map<Integer, AtomicInteger> statuses,
            int keys,
            List<String> lost,
            List<String> differing,
            List<String> twice,
            List<String> unknown,
            List<String> silent) {

        @Override
        public String toString() {
            return "%d calls of %d keys, by status %s; lost %d, differing %d, twice %d, unknown %d, silent %d"
                    .formatted(
                            calls,
                            keys,
                            statuses,
                            lost.size(),
                            differing.size(),
                            twice.size(),
                            unknown.size(),
                            silent.size());
        }
    }
}
