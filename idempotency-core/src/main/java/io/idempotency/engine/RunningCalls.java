package io.idempotency.engine;

import io.idempotency.IdempotencyContext;
import io.idempotency.spi.RecordId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Knows which attempts run: on this thread, so that the same key joins its outer attempt, and in all, for the shutdown. */
final class RunningCalls {

    private final ThreadLocal<@Nullable Frame> stack = new ThreadLocal<>();
    private final Map<String, Integer> byOperation = new ConcurrentHashMap<>();

    @Nullable
    Attempt onThisThread(RecordId id) {
        for (Frame frame = stack.get(); frame != null; frame = frame.outer) {
            if (frame.id.equals(id)) {
                return frame.attempt;
            }
        }
        return null;
    }

    Finish run(Call call, Attempt attempt, Work work) throws Throwable {
        return onStack(call, attempt, work::run);
    }

    <R> R onStack(Call call, Attempt attempt, OnStack<R> work) throws Throwable {
        started(call);
        try (IdempotencyContext.Scope ignored = bind(call, attempt)) {
            return work.run(attempt);
        } finally {
            ended(call);
        }
    }

    /** Makes this thread run the attempt until the result is closed. */
    IdempotencyContext.Scope bind(Call call, Attempt attempt) {
        Frame outer = stack.get();
        stack.set(new Frame(call.id(), attempt, outer));
        IdempotencyContext.Scope context = IdempotencyContext.bind(attempt.context());
        return () -> {
            context.close();
            if (outer == null) {
                stack.remove();
            } else {
                stack.set(outer);
            }
        };
    }

    void started(Call call) {
        byOperation.merge(call.operation(), 1, Integer::sum);
    }

    void ended(Call call) {
        byOperation.computeIfPresent(call.operation(), (name, count) -> count == 1 ? null : count - 1);
    }

    Map<String, Integer> names() {
        return Map.copyOf(byOperation);
    }

    /** What runs while its attempt is known to its thread. */
    interface OnStack<R> {
        R run(Attempt attempt) throws Throwable;
    }

    private record Frame(
            RecordId id, Attempt attempt, @Nullable Frame outer) {}
}
