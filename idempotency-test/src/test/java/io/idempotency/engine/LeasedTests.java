package io.idempotency.engine;

import static io.idempotency.engine.Node.call;

import io.idempotency.Guarantee;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** A store that all nodes share, and payments under leases. */
abstract class LeasedTests {

    static final Duration LEASE = Duration.ofSeconds(30);

    final VirtualRuntime runtime = new VirtualRuntime();
    final InMemoryIdempotencyStore store =
            new InMemoryIdempotencyStore(runtime::nanoTime, runtime.clock, 1000, 1_000_000);
    final AtomicInteger effects = new AtomicInteger();

    static OperationSettings.Builder settings(Guarantee guarantee) {
        return OperationSettings.of("pay", guarantee).lease(LEASE).retention(Duration.ofHours(1));
    }

    static Call pay() {
        return call(settings(Guarantee.AT_LEAST_ONCE).build(), "k", "10 EUR");
    }

    static Call payAtMostOnce() {
        return call(settings(Guarantee.AT_MOST_ONCE).build(), "k", "10 EUR");
    }

    final String effect(String result) {
        effects.incrementAndGet();
        return result;
    }
}
