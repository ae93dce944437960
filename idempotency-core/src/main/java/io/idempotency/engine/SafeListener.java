package io.idempotency.engine;

import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.RecordId;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells every listener, whatever the others throw. */
final class SafeListener implements IdempotencyListener {

    private static final Logger log = LoggerFactory.getLogger(SafeListener.class);

    private final List<IdempotencyListener> listeners;

    SafeListener(List<IdempotencyListener> listeners) {
        this.listeners = List.copyOf(listeners);
    }

    @Override
    public void onCallEnded(String operation, String outcome, Duration elapsed) {
        each(listener -> listener.onCallEnded(operation, outcome, elapsed));
    }

    @Override
    public void onTakeover(String operation, RecordId id, long token) {
        each(listener -> listener.onTakeover(operation, id, token));
    }

    @Override
    public void onLeaseLost(String operation, RecordId id) {
        each(listener -> listener.onLeaseLost(operation, id));
    }

    @Override
    public void onCompletionFailed(String operation, RecordId id, Throwable failure) {
        each(listener -> listener.onCompletionFailed(operation, id, failure));
    }

    @Override
    public void onConflict(String operation, RecordId id) {
        each(listener -> listener.onConflict(operation, id));
    }

    @Override
    public void onWorkOutsideTransaction(String operation, String what) {
        each(listener -> listener.onWorkOutsideTransaction(operation, what));
    }

    @Override
    public void onObserved(String operation, String outcome) {
        each(listener -> listener.onObserved(operation, outcome));
    }

    private void each(Consumer<IdempotencyListener> event) {
        for (IdempotencyListener listener : listeners) {
            try {
                event.accept(listener);
            } catch (RuntimeException | LinkageError e) {
                log.warn("An idempotency listener threw; the call goes on", e);
            }
        }
    }
}
