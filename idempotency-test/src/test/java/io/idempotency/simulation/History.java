package io.idempotency.simulation;

import io.idempotency.Guarantee;
import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.RecordId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** What has happened in one seed, and whether it may have happened. */
final class History implements IdempotencyListener {

    private final Climate climate;
    private final Fibers fibers;
    private final boolean tracing;
    private final List<String> trace = new ArrayList<>();
    private final Map<RecordId, String> keys = new HashMap<>();
    private final Map<String, List<Effect>> ledger = new HashMap<>();
    private final Map<String, String> answers = new HashMap<>();
    private final Map<String, Integer> takeovers = new HashMap<>();
    private final Map<String, Integer> failedCompletions = new HashMap<>();
    private final Set<String> notStored = new HashSet<>();
    private final Set<String> openEnds = new HashSet<>();
    private int attempts;
    private int replays;

    History(Climate climate, Fibers fibers, boolean tracing) {
        this.climate = climate;
        this.fibers = fibers;
        this.tracing = tracing;
    }

    List<String> trace() {
        return trace;
    }

    int attempts() {
        return attempts;
    }

    int replays() {
        return replays;
    }

    int takeovers() {
        return takeovers.values().stream().mapToInt(Integer::intValue).sum();
    }

    void note(Supplier<String> what) {
        if (tracing) {
            trace.add(Duration.ofNanos(fibers.now()) + " " + what.get());
        }
    }

    void knows(RecordId id, String key) {
        keys.put(id, key);
    }

    String keyOf(RecordId id) {
        return keys.getOrDefault(id, "?");
    }

    int nextAttempt() {
        return ++attempts;
    }

    void effect(Effect effect) {
        note(() -> "effect " + effect);
        List<Effect> ofKey = ledger.computeIfAbsent(effect.key(), key -> new ArrayList<>());
        ofKey.add(effect);
        if (climate.guarantee() != Guarantee.AT_LEAST_ONCE) {
            require(ofKey.size() == 1, "done twice: " + ofKey);
        }
    }

    void tookOver(String key) {
        note(() -> "takeover of " + key);
        takeovers.merge(key, 1, Integer::sum);
        require(!climate.quiet() || openEnds.contains(key), "takeover of " + key + ", and nothing had gone wrong");
    }

    /** Somebody was told this, and it is what the record says. */
    void answered(String key, String payload, String answer, boolean replayed) {
        note(() -> (replayed ? "replay of " : "answer to ") + key + ": " + answer);
        replays += replayed ? 1 : 0;
        if (!answer.startsWith("refused")) {
            require(
                    ledger.getOrDefault(key, List.of()).stream()
                            .anyMatch(effect ->
                                    effect.payload().equals(payload) && answer.endsWith(" by " + effect.attempt())),
                    "told '" + answer + "' of " + key + " and " + payload + ", and the ledger has "
                            + ledger.getOrDefault(key, List.of()));
        }
        String first = answers.putIfAbsent(key, answer);
        boolean mayDiffer = climate.guarantee() == Guarantee.AT_LEAST_ONCE && notStored.contains(key);
        require(
                first == null || first.equals(answer) || mayDiffer,
                key + " was told '" + first + "' and '" + answer + "'");
    }

    boolean isAnswered(String key) {
        return answers.containsKey(key);
    }

    int failedCompletions(String key) {
        return failedCompletions.getOrDefault(key, 0);
    }

    /** The work has ended, and its result could not be stored. */
    void notStored(String key) {
        notStored.add(key);
        openEnds.add(key);
    }

    /** Nobody can know whether the work of this key was done. */
    void openEnd(String key, String reason) {
        note(() -> key + " is open: " + reason);
        openEnds.add(key);
    }

    boolean isOpen(String key) {
        return openEnds.contains(key);
    }

    void lateBeyondTheLease(String command, String key) {
        if (command.equals("claim")) {
            openEnd(key, "a claim that arrives late");
        }
    }

    void outcomeUnknown(String key) {
        note(() -> key + " has an unknown outcome");
        require(climate.guarantee() == Guarantee.AT_MOST_ONCE, "outcome unknown under " + climate.guarantee());
        require(!climate.quiet() || openEnds.contains(key), key + " is unknown, and nothing had gone wrong");
    }

    void check(String key) {
        int effects = ledger.getOrDefault(key, List.of()).size();
        if (climate.guarantee() == Guarantee.AT_LEAST_ONCE) {
            require(
                    effects - 1 <= takeovers.getOrDefault(key, 0),
                    key + " was done " + effects + " times with " + takeovers.getOrDefault(key, 0) + " takeovers");
        }
    }

    void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new Violation(otherwise);
        }
    }

    @Override
    public void onCompletionFailed(String operation, RecordId id, Throwable failure) {
        failedCompletions.merge(keyOf(id), 1, Integer::sum);
    }

    /** A promise was broken. An error of its own, so that it is not taken for one of the work. */
    static final class Violation extends Error {

        private static final long serialVersionUID = 1L;

        Violation(String message) {
            super(message);
        }
    }
}
