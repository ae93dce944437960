package io.idempotency.engine;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyTemplate.Action;
import io.idempotency.spi.Lease;
import java.lang.reflect.Type;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

final class AttemptContext extends IdempotencyContext {

    private final Call call;
    private final Lease lease;
    private final boolean takeover;
    private final BooleanSupplier lost;
    private final @Nullable Steps steps;

    /** @param steps null if the action is one transaction */
    AttemptContext(Call call, Lease lease, boolean takeover, BooleanSupplier lost, @Nullable Steps steps) {
        this.call = call;
        this.lease = lease;
        this.takeover = takeover;
        this.lost = lost;
        this.steps = steps;
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

    @Override
    protected <T extends @Nullable Object> T runStep(String name, Type resultType, Action<T, ?> action)
            throws Throwable {
        if (steps == null) {
            throw new IllegalStateException(
                    "Operation " + operation() + " is EXACTLY_ONCE: it is one transaction, which leaves"
                            + " no finished step behind when it is rolled back. Choose the guarantee AT_LEAST_ONCE and give the steps"
                            + " transactions of their own, or give remote calls a childKey");
        }
        ensureOwned();
        // Another payload is another action, which has not done the steps of this one.
        return steps.run(
                call, childKey("step/" + name + "/" + call.fingerprint().asText()), resultType, action);
    }
}
