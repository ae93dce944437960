package io.idempotency.simulation;

import io.idempotency.engine.EngineRuntime;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Owner;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** One process of the application: an engine with a clock of its own. It may pause, and it may die. */
final class Host implements Fibers.Process, EngineRuntime {

    final String name;
    final IdempotencyEngine engine;

    /** Keys of calls that run here, and how many of each. */
    final Map<String, Integer> active = new HashMap<>();

    /** Keys for which this process may still have something to tidy up. */
    final Set<String> unsettled = new HashSet<>();

    private final Fibers fibers;
    private final Chance chance;
    private long clockAhead;
    private long pausedUntil;
    private boolean dead;

    Host(String name, Fibers fibers, Chance chance, IdempotencyStore store, IdempotencyListener listener) {
        this.name = name;
        this.fibers = fibers;
        this.chance = chance;
        this.clockAhead = chance.upTo(Duration.ofDays(1).toNanos());
        this.engine = IdempotencyEngine.on(store)
                .runtime(this)
                .listeners(List.of(listener))
                .build();
    }

    void pause(long nanos) {
        pausedUntil = fibers.now() + nanos;
    }

    void moveClock(long nanos) {
        clockAhead += nanos;
    }

    void die() {
        dead = true;
        fibers.wake(this);
    }

    @Override
    public boolean isDead() {
        return dead;
    }

    @Override
    public long pausedUntil() {
        return pausedUntil;
    }

    @Override
    public long nanoTime() {
        return fibers.now() + clockAhead;
    }

    @Override
    public void sleep(Duration duration) {
        fibers.suspend(duration.toNanos());
    }

    @Override
    public Owner newOwner() {
        return new Owner(new UUID(chance.bits(), chance.bits()));
    }

    @Override
    public double random() {
        return chance.uniform();
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        boolean[] cancelled = new boolean[1];
        fibers.start(this, delay.toNanos(), () -> {
            if (!cancelled[0]) {
                task.run();
            }
        });
        return () -> cancelled[0] = true;
    }

    @Override
    public void close() {}
}
