package io.idempotency.engine;

import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** One application instance: an engine of its own on a store that it may share with others. */
final class Node implements IdempotencyListener {

    final List<String> outcomes = new ArrayList<>();
    final List<String> events = new ArrayList<>();
    final IdempotencyEngine engine;

    Node(IdempotencyStore store, EngineRuntime runtime) {
        engine = IdempotencyEngine.on(store)
                .runtime(runtime)
                .listeners(List.of(this))
                .build();
    }

    Node(IdempotencyEngine engine) {
        this.engine = engine;
    }

    /** Runs the work and gives the answer of the call as text: its own, or the record's. */
    String call(Call call, TextWork work) throws Throwable {
        String[] own = new String[1];
        Completion completion = engine.execute(call, attempt -> {
            own[0] = work.run(attempt);
            return new Finish.Store(result(own[0]), false);
        });
        return Objects.requireNonNull(completion) instanceof Completion.Replayed replayed
                ? text(replayed.result())
                : own[0];
    }

    static StoredResult result(String text) {
        return StoredResult.value("text", text.getBytes(StandardCharsets.UTF_8));
    }

    static String text(StoredResult result) {
        return new String(result.payload(), StandardCharsets.UTF_8);
    }

    static Call call(OperationSettings settings, String key, String payload) {
        Fingerprint fingerprint = Fingerprint.sha256("raw/1", payload.getBytes(StandardCharsets.UTF_8));
        return new Call(settings, "", key, fingerprint);
    }

    @Override
    public void onCallEnded(String operation, String outcome, Duration elapsed) {
        outcomes.add(outcome);
    }

    @Override
    public void onTakeover(String operation, RecordId id, long token) {
        events.add("takeover " + token);
    }

    @Override
    public void onLeaseLost(String operation, RecordId id) {
        events.add("lease lost");
    }

    @Override
    public void onCompletionFailed(String operation, RecordId id, Throwable failure) {
        events.add("completion failed");
    }

    @Override
    public void onConflict(String operation, RecordId id) {
        events.add("conflict");
    }

    @Override
    public void onWorkOutsideTransaction(String operation, String what) {
        events.add("outside " + what);
    }

    interface TextWork {
        String run(Attempt attempt) throws Throwable;
    }
}
