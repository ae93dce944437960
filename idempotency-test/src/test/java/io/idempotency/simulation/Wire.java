package io.idempotency.simulation;

import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.WriteOutcome;
import java.time.Duration;
import java.util.Optional;

/** A store at the other end of the network. */
final class Wire implements IdempotencyStore {

    private final IdempotencyStore store;
    private final Weakness weakness;
    private final Network network;
    private final History history;

    Wire(IdempotencyStore store, Weakness weakness, Network network, History history) {
        this.store = store;
        this.weakness = weakness;
        this.network = network;
        this.history = history;
    }

    @Override
    public String name() {
        return "simulated";
    }

    @Override
    public ClaimResult tryClaim(ClaimRequest request) {
        String key = history.keyOf(request.id());
        return network.send("claim", key, () -> taken(key, store.tryClaim(weakened(request))));
    }

    private ClaimRequest weakened(ClaimRequest request) {
        return weakness != Weakness.KEY_LIVES_AS_LONG_AS_ITS_LEASE
                ? request
                : new ClaimRequest(
                        request.id(),
                        request.operation(),
                        request.guarantee(),
                        request.owner(),
                        request.fingerprint(),
                        request.lease(),
                        Duration.ofMillis(1),
                        request.takeOverFrom());
    }

    @Override
    public WriteOutcome complete(Lease lease, StoredResult result, Duration retention) {
        return network.send("complete", history.keyOf(lease.id()), () -> {
            WriteOutcome outcome = store.complete(lease, result, retention);
            return weakness == Weakness.OWNER_IS_NOT_COMPARED ? WriteOutcome.APPLIED : outcome;
        });
    }

    @Override
    public ClaimResult recordDone(ClaimRequest request, StoredResult result) {
        String key = history.keyOf(request.id());
        return network.send("record done", key, () -> taken(key, store.recordDone(request, result)));
    }

    // An answer that is lost on its way was a takeover all the same.
    private ClaimResult taken(String key, ClaimResult answer) {
        if (answer instanceof ClaimResult.Claimed claimed && claimed.takeover()) {
            history.tookOver(key);
        }
        return answer;
    }

    @Override
    public WriteOutcome release(Lease lease) {
        return network.send("release", history.keyOf(lease.id()), () -> store.release(lease));
    }

    @Override
    public WriteOutcome renew(Lease lease) {
        return network.send("renew", history.keyOf(lease.id()), () -> store.renew(lease));
    }

    @Override
    public Optional<IdempotencyRecord> find(RecordId id) {
        return network.send("find", history.keyOf(id), () -> store.find(id));
    }

    @Override
    public boolean forget(RecordId id) {
        throw new IllegalStateException("No operator is here");
    }
}
