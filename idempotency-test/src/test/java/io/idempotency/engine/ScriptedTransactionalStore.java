package io.idempotency.engine;

import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionalStore;
import io.idempotency.spi.WriteOutcome;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/** Answers each call with what the test has put there for it, and remembers the order of the calls. */
final class ScriptedTransactionalStore implements TransactionalStore {

    final List<String> calls = new ArrayList<>();
    final List<StoredResult> written = new ArrayList<>();
    private final Map<String, Deque<Supplier<?>>> answers = new HashMap<>();

    void answer(String method, Object... results) {
        Deque<Supplier<?>> queue = answers.computeIfAbsent(method, name -> new ArrayDeque<>());
        Arrays.stream(results).forEach(result -> queue.add(() -> result));
    }

    void fail(String method, RuntimeException failure) {
        answers.computeIfAbsent(method, name -> new ArrayDeque<>()).add(() -> {
            throw failure;
        });
    }

    @SuppressWarnings("unchecked")
    private <T> T next(String method, Supplier<T> otherwise) {
        calls.add(method);
        Deque<Supplier<?>> queue = answers.get(method);
        return queue == null || queue.isEmpty()
                ? otherwise.get()
                : (T) queue.poll().get();
    }

    private static ClaimResult claimed(ClaimRequest request) {
        boolean takeover = request.takeOverFrom() != null;
        return new ClaimResult.Claimed(new Lease(request, takeover ? 2 : 1), takeover);
    }

    @Override
    public String name() {
        return "scripted";
    }

    @Override
    public Optional<ClaimResult> beforeTransaction(ClaimRequest request, boolean serializable) {
        return next("before", Optional::empty);
    }

    @Override
    public ClaimResult claimInTransaction(ClaimRequest request, boolean serializable) {
        return next("claim", () -> claimed(request));
    }

    @Override
    public ClaimResult claimInOpenTransaction(ClaimRequest request) {
        return next("claim in open", () -> claimed(request));
    }

    @Override
    public ClaimResult recordDoneInTransaction(ClaimRequest request, StoredResult result, boolean serializable) {
        written.add(result);
        return next("claim done", () -> claimed(request));
    }

    @Override
    public ClaimResult recordDoneInOpenTransaction(ClaimRequest request, StoredResult result) {
        written.add(result);
        return next("claim done in open", () -> claimed(request));
    }

    @Override
    public WriteOutcome completeInTransaction(Lease lease, StoredResult result, Duration retention) {
        Objects.requireNonNull(lease);
        written.add(result);
        return next("complete", () -> WriteOutcome.APPLIED);
    }

    @Override
    public void afterRollback(Lease lease) {
        next("after rollback", () -> null);
    }

    @Override
    public CommitProbe probe(Lease lease) {
        Objects.requireNonNull(lease);
        return next("probe", () -> CommitProbe.UNKNOWN);
    }

    @Override
    public ClaimResult recordDone(ClaimRequest request, StoredResult result) {
        written.add(result);
        return next("record done", () -> claimed(request));
    }

    @Override
    public Optional<IdempotencyRecord> find(RecordId id) {
        return next("find", Optional::empty);
    }

    @Override
    public ClaimResult tryClaim(ClaimRequest request) {
        throw new AssertionError("a lease is never taken under EXACTLY_ONCE");
    }

    @Override
    public WriteOutcome complete(Lease lease, StoredResult result, Duration retention) {
        throw new AssertionError("the completion is part of the transaction");
    }

    @Override
    public WriteOutcome release(Lease lease) {
        throw new AssertionError("the rollback is the release");
    }

    @Override
    public WriteOutcome renew(Lease lease) {
        throw new AssertionError("there is no lease");
    }

    @Override
    public boolean forget(RecordId id) {
        throw new AssertionError("not an operator");
    }
}
