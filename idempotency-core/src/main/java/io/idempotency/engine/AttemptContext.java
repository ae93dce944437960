package io.idempotency.engine;

import io.idempotency.IdempotencyContext;
import io.idempotency.spi.Lease;
import java.util.function.BooleanSupplier;

final class AttemptContext extends IdempotencyContext {

    private final Call call;
    private final Lease lease;
    private final boolean takeover;
    private final BooleanSupplier lost;

    AttemptContext(Call call, Lease lease, boolean takeover, BooleanSupplier lost) {
        this.call = call;
        this.lease = lease;
        this.takeover = takeover;
        this.lost = lost;
    }

    @Override
    public String operation() {
        return call.operation();
    }

    @Override
    public String key() {
        return call.key();
    }

    @Override
    public long fencingToken() {
        return lease.token();
    }

    @Override
    public boolean takeover() {
        return takeover;
    }

    @Override
    public boolean leaseLost() {
        return lost.getAsBoolean();
    }

    @Override
    protected byte[] recordId() {
        return call.id().bytes();
    }
}
