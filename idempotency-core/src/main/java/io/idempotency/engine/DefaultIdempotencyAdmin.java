package io.idempotency.engine;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.WriteOutcome;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;

final class DefaultIdempotencyAdmin implements IdempotencyAdmin {

    private static final Duration LEASE_OF_A_RESOLUTION = Duration.ofSeconds(30);

    private final IdempotencyStore store;
    private final EngineRuntime runtime;

    DefaultIdempotencyAdmin(IdempotencyStore store, EngineRuntime runtime) {
        this.store = store;
        this.runtime = runtime;
    }

    @Override
    public Optional<Status> find(String operation, String scope, String key) {
        return store.find(RecordId.of(operation, scope, key))
                .map(record -> new Status(
                        stateOf(record),
                        record.guarantee(),
                        record.token(),
                        record.createdAt(),
                        record.completedAt(),
                        record.expiresIn()));
    }

    private static State stateOf(IdempotencyRecord record) {
        return record.done() ? State.DONE : record.abandoned() ? State.ABANDONED : State.PROCESSING;
    }

    @Override
    public boolean forget(String operation, String scope, String key) {
        return store.forget(RecordId.of(operation, scope, key));
    }

    @Override
    public boolean resolveAsDone(String operation, String scope, String key) {
        StoredResult fact = StoredResult.notReplayable("resolved/1", new byte[0]);
        return resolve(
                operation,
                scope,
                key,
                lease -> store.complete(lease, fact, lease.request().retention()) == WriteOutcome.APPLIED);
    }

    @Override
    public boolean resolveAsNotDone(String operation, String scope, String key) {
        return resolve(operation, scope, key, lease -> store.release(lease) == WriteOutcome.APPLIED);
    }

    // A resolution is a takeover: two operators, or an operator and a retry, cannot both decide.
    private boolean resolve(String operation, String scope, String key, Predicate<Lease> decision) {
        return store.find(RecordId.of(operation, scope, key))
                .filter(IdempotencyRecord::abandoned)
                .map(this::takeOver)
                .filter(ClaimResult.Claimed.class::isInstance)
                .map(claimed -> decision.test(((ClaimResult.Claimed) claimed).lease()))
                .orElse(false);
    }

    private ClaimResult takeOver(IdempotencyRecord record) {
        return store.tryClaim(new ClaimRequest(
                record.id(),
                record.operation(),
                record.guarantee(),
                runtime.newOwner(),
                Fingerprint.NONE,
                LEASE_OF_A_RESOLUTION,
                OperationSettings.LONGEST_RETENTION.compareTo(record.expiresIn()) < 0
                        ? Duration.ofHours(24)
                        : record.expiresIn(),
                record.owner()));
    }
}
