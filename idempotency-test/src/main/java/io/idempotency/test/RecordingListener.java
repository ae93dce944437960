package io.idempotency.test;

import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.RecordId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what it hears, in the order in which it hears it. May be read while calls run.
 *
 * @since 0.1.0
 */
public final class RecordingListener implements IdempotencyListener {

    private final List<Event> events = new CopyOnWriteArrayList<>();

    /** Everything heard so far. */
    public List<Event> events() {
        return List.copyOf(events);
    }

    /** The outcomes of all calls that have ended, in the order of their ends. */
    public List<String> outcomes() {
        return events.stream()
                .filter(event -> event.kind() == Kind.CALL_ENDED)
                .map(Event::detail)
                .toList();
    }

    /** How often something of this kind was heard. */
    public int count(Kind kind) {
        return (int) events.stream().filter(event -> event.kind() == kind).count();
    }

    /** Forgets everything. */
    public void clear() {
        events.clear();
    }

    @Override
    public void onCallEnded(String operation, String outcome, Duration elapsed) {
        events.add(new Event(Kind.CALL_ENDED, operation, null, outcome));
    }

    @Override
    public void onTakeover(String operation, RecordId id, long token) {
        events.add(new Event(Kind.TAKEOVER, operation, id, Long.toString(token)));
    }

    @Override
    public void onLeaseLost(String operation, RecordId id) {
        events.add(new Event(Kind.LEASE_LOST, operation, id, ""));
    }

    @Override
    public void onCompletionFailed(String operation, RecordId id, Throwable failure) {
        events.add(new Event(Kind.COMPLETION_FAILED, operation, id, failure.toString()));
    }

    @Override
    public void onConflict(String operation, RecordId id) {
        events.add(new Event(Kind.CONFLICT, operation, id, ""));
    }

    @Override
    public void onWorkOutsideTransaction(String operation, String what) {
        events.add(new Event(Kind.WORK_OUTSIDE_TRANSACTION, operation, null, what));
    }

    @Override
    public void onObserved(String operation, String outcome) {
        events.add(new Event(Kind.OBSERVED, operation, null, outcome));
    }

    /**
     * One thing that was heard.
     *
     * @param kind what happened
     * @param operation the operation it happened to
     * @param id the record it happened to, where the listener is told
     * @param detail the outcome of a call, also of an observed one, the token of a takeover, the failure of a completion, the work outside a transaction;
     *     else empty
     */
    public record Event(
            Kind kind, String operation, @Nullable RecordId id, String detail) {}

    /** What can be heard. */
    public enum Kind {
        /** {@link IdempotencyListener#onCallEnded}. */
        CALL_ENDED,
        /** {@link IdempotencyListener#onTakeover}. */
        TAKEOVER,
        /** {@link IdempotencyListener#onLeaseLost}. */
        LEASE_LOST,
        /** {@link IdempotencyListener#onCompletionFailed}. */
        COMPLETION_FAILED,
        /** {@link IdempotencyListener#onConflict}. */
        CONFLICT,
        /** {@link IdempotencyListener#onWorkOutsideTransaction}. */
        WORK_OUTSIDE_TRANSACTION,
        /** {@link IdempotencyListener#onObserved}. */
        OBSERVED
    }
}
