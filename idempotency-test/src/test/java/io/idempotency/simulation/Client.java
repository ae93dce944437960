package io.idempotency.simulation;

import io.idempotency.Guarantee;
import io.idempotency.KeyReusedException;
import io.idempotency.OperationInProgressException;
import io.idempotency.OutcomeUnknownException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.engine.Call;
import io.idempotency.engine.Completion;
import io.idempotency.engine.Finish;
import io.idempotency.engine.RunningAttempt;
import io.idempotency.simulation.SimulatedDatabase.Notice;
import io.idempotency.simulation.SimulatedWork.Ending;
import io.idempotency.simulation.SimulatedWork.Refused;
import io.idempotency.spi.CommitFailedException;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.TransactionConflictException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** Calls, and calls again when the answer is not final. Runs on a fiber of one process. */
final class Client implements Runnable {

    private static final long POLL = 100_000_000L;
    private static final int TRIES = 3;

    private final World world;
    private final Host host;

    Client(World world, Host host) {
        this.world = world;
        this.host = host;
    }

    @Override
    public void run() {
        int calls = world.chance.between(1, 3);
        for (int i = 0; i < calls; i++) {
            String key = world.chance.oneOf(World.KEYS);
            String payload = world.chance.in(0.85) ? "P" : "Q";
            for (int tries = 0; tries < TRIES && !isFinal(call(key, payload)); tries++) {
                world.fibers.suspend(world.chance.upTo(Climate.LEASE.toNanos()));
            }
        }
    }

    private static boolean isFinal(Answer answer) {
        return answer == Answer.SUCCESS || answer == Answer.REUSED;
    }

    private Answer call(String key, String payload) {
        Door door = world.chance.in(0.7)
                ? Door.DIRECT
                : world.climate.guarantee() != Guarantee.EXACTLY_ONCE
                        ? Door.ASYNC
                        : world.chance.oneOf(List.of(Door.LATE, Door.IN_OPEN_TRANSACTION));
        return call(key, payload, door, Ending.by(world.chance, world.climate.guarantee()));
    }

    Answer call(String key, String payload, Door door, Ending ending) {
        Call call = world.call(key, payload);
        SimulatedWork work = new SimulatedWork(world, call, payload, ending);
        int failedBefore = world.history.failedCompletions(key);
        host.active.merge(key, 1, Integer::sum);
        try {
            Completion completion = through(door, call, work);
            return answered(key, payload, completion, work.result());
        } catch (Refused | Notice own) {
            if (world.history.failedCompletions(key) > failedBefore) {
                world.history.notStored(key);
            }
            return Answer.FAILED;
        } catch (KeyReusedException e) {
            return Answer.REUSED;
        } catch (OperationInProgressException e) {
            return Answer.IN_PROGRESS;
        } catch (OutcomeUnknownException e) {
            world.history.outcomeUnknown(key);
            return Answer.UNKNOWN;
        } catch (StoreUnavailableException | CommitFailedException e) {
            world.history.require(!world.climate.quiet(), "A failure of the store where none was: " + e);
            return Answer.FAILED;
        } catch (ConnectException
                | SocketTimeoutException
                | IllegalArgumentException
                | TransactionConflictException e) {
            return Answer.FAILED;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("Nobody expects that", e);
        } finally {
            host.active.computeIfPresent(key, (name, count) -> count == 1 ? null : count - 1);
        }
    }

    private Completion through(Door door, Call call, SimulatedWork work) throws Throwable {
        return switch (door) {
            case DIRECT -> host.engine.execute(call, work);
            case ASYNC -> async(call, work);
            case LATE ->
                host.engine.executeLate(call.settings(), claim -> {
                    world.network.step();
                    var attempt = claim.of(call);
                    return attempt == null ? new Finish.Release() : work.run(attempt);
                });
            case IN_OPEN_TRANSACTION -> world.database.inNew(transaction -> host.engine.execute(call, work));
        };
    }

    private Completion async(Call call, SimulatedWork work) throws Throwable {
        CompletableFuture<Completion> answer = host.engine.executeAsync(call, attempt -> {
            CompletableFuture<Finish> end = new CompletableFuture<>();
            world.fibers.start(host, 0, () -> {
                try {
                    Finish finish;
                    try (var scope = ((RunningAttempt) attempt).bind()) {
                        finish = work.run(attempt);
                    }
                    end.complete(finish);
                } catch (Fibers.Died | History.Violation e) {
                    throw e;
                } catch (Throwable e) {
                    end.completeExceptionally(e);
                }
            });
            return end;
        });
        while (!answer.isDone()) {
            world.fibers.suspend(POLL);
        }
        try {
            return answer.get();
        } catch (ExecutionException e) {
            throw e.getCause();
        }
    }

    private Answer answered(String key, String payload, Completion completion, @Nullable StoredResult own) {
        if (completion instanceof Completion.Replayed replayed) {
            world.history.answered(key, payload, SimulatedWork.text(replayed.result()), true);
            return Answer.SUCCESS;
        }
        Completion.Executed executed = (Completion.Executed) completion;
        if (own == null || executed.rolledBack() && !executed.stored()) {
            return Answer.FAILED;
        }
        if (!executed.stored()) {
            world.history.notStored(key);
        }
        world.history.answered(key, payload, SimulatedWork.text(own), false);
        return Answer.SUCCESS;
    }

    /** By which way it goes into the engine. */
    enum Door {
        DIRECT,
        ASYNC,
        LATE,
        IN_OPEN_TRANSACTION
    }

    /** What it gets. */
    enum Answer {
        SUCCESS,
        FAILED,
        REUSED,
        IN_PROGRESS,
        UNKNOWN
    }
}
