package io.idempotency.simulation;

import io.idempotency.Guarantee;
import io.idempotency.engine.Attempt;
import io.idempotency.engine.Call;
import io.idempotency.engine.Completion;
import io.idempotency.engine.Finish;
import io.idempotency.engine.Work;
import io.idempotency.simulation.SimulatedDatabase.Notice;
import io.idempotency.spi.StoredResult;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a call does: writes one line into the ledger, or fails in one of the ways in which work fails. */
final class SimulatedWork implements Work {

    private static final long LEASE = Climate.LEASE.toNanos();

    private final World world;
    private final Call call;
    private final String payload;
    private final Ending ending;
    private int attempt;
    private int announced;

    SimulatedWork(World world, Call call, String payload, Ending ending) {
        this.world = world;
        this.call = call;
        this.payload = payload;
        this.ending = ending;
    }

    /** The answer of its own, if it ended with one. */
    @Nullable
    StoredResult result() {
        return switch (ending) {
            case DONE, DONE_LATE -> attempt == 0 ? null : value("done by " + attempt);
            case MARKED -> attempt == 0 ? null : value("refused by " + attempt);
            default -> null;
        };
    }

    private static StoredResult value(String text) {
        return StoredResult.value("text", text.getBytes(StandardCharsets.UTF_8));
    }

    /** What a stored result says. */
    static String text(StoredResult result) {
        String text = new String(result.payload(), StandardCharsets.UTF_8);
        return result.kind() == StoredResult.Kind.FAILURE
                ? text.substring(Math.max(text.lastIndexOf("refused by"), text.lastIndexOf("noticed by")))
                : text;
    }

    @Override
    public @Nullable StoredResult resultInAdvance() {
        if (!world.chance.in(0.4)) {
            return null;
        }
        announced = world.history.nextAttempt();
        return value("done by " + announced);
    }

    @Override
    public Finish run(Attempt running) throws Throwable {
        attempt = announced == 0 ? world.history.nextAttempt() : announced;
        announced = 0;
        world.history.note(() -> "attempt " + attempt + " of " + call.key() + " with " + payload + ": " + ending);
        if (world.chance.in(0.05)) {
            callItself();
        }
        long duration = world.chance.upTo(ending == Ending.DONE_LATE ? 3 * LEASE : LEASE / 10);
        world.network.step();
        world.fibers.suspend(duration);
        switch (ending) {
            case DONE, DONE_LATE -> effect();
            case HARMLESS -> throw new ConnectException("not sent");
            case REFUSED -> throw new Refused("refused by " + attempt);
            case RELEASED -> {
                return new Finish.Release();
            }
            case AMBIGUOUS -> {
                world.history.openEnd(call.key(), "ambiguous");
                maybe();
                throw new SocketTimeoutException("no answer");
            }
            case HELD -> {
                world.history.openEnd(call.key(), "held");
                maybe();
                return new Finish.Hold();
            }
            case NOTICED -> {
                effect();
                throw new Notice("noticed by " + attempt);
            }
            case MARKED -> {
                effect();
                world.database.open().setRollbackOnly();
            }
        }
        return new Finish.Store(result(), ending == Ending.MARKED);
    }

    private void maybe() {
        if (world.chance.in(0.5)) {
            effect();
        }
    }

    private void effect() {
        Effect effect = new Effect(call.key(), payload, attempt);
        if (world.climate.guarantee() == Guarantee.EXACTLY_ONCE) {
            world.database.insert(effect);
        } else {
            world.network.step();
            world.history.effect(effect);
            world.network.step();
        }
    }

    // The same key on the same stack is the same attempt.
    private void callItself() throws Throwable {
        int[] runs = new int[1];
        Completion inner = world.network.here().engine.execute(call, outer -> {
            runs[0]++;
            return new Finish.Release();
        });
        world.history.require(runs[0] == 1 && inner instanceof Completion.Executed, "An inner call did not join");
    }

    /** How it ends. */
    enum Ending {
        DONE,
        DONE_LATE,
        HARMLESS,
        REFUSED,
        RELEASED,
        AMBIGUOUS,
        HELD,
        NOTICED,
        MARKED;

        private static final List<Ending> LEASED =
                List.of(DONE, DONE, DONE, DONE_LATE, HARMLESS, REFUSED, RELEASED, AMBIGUOUS, HELD);
        private static final List<Ending> IN_TRANSACTION =
                List.of(DONE, DONE, DONE, DONE_LATE, HARMLESS, REFUSED, RELEASED, AMBIGUOUS, HELD, NOTICED, MARKED);

        static Ending by(Chance chance, Guarantee guarantee) {
            return chance.oneOf(guarantee == Guarantee.EXACTLY_ONCE ? IN_TRANSACTION : LEASED);
        }
    }

    /** A failure that is a result. */
    static final class Refused extends Exception {

        private static final long serialVersionUID = 1L;

        Refused(String message) {
            super(message);
        }
    }
}
