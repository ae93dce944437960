package io.idempotency.simulation;

import io.idempotency.StoreUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The way between the processes and their store. On it everything gets lost that can get lost. */
final class Network {

    private static final long COMMON_DELAY = Duration.ofMillis(5).toNanos();
    private static final long RARE_DELAY = Duration.ofSeconds(1).toNanos();
    private static final long LEASE = Climate.LEASE.toNanos();

    private final Fibers fibers;
    private final Chance chance;
    private final Climate climate;
    private final History history;
    private final Consumer<Host> deaths;
    private boolean healed;

    Network(Fibers fibers, Chance chance, Climate climate, History history, Consumer<Host> deaths) {
        this.fibers = fibers;
        this.chance = chance;
        this.climate = climate;
        this.history = history;
        this.deaths = deaths;
    }

    /** From now on nothing goes wrong any more. */
    void heal() {
        healed = true;
    }

    Host here() {
        return (Host) fibers.current().process;
    }

    /** A step of the calling process: others run meanwhile, and it may die or pause. */
    void step() {
        Host host = here();
        if (!healed) {
            if (chance.in(climate.deaths())) {
                deaths.accept(host);
            } else if (chance.in(climate.pauses())) {
                long pause = chance.upTo(3 * LEASE);
                history.note(() -> host.name + " pauses for " + Duration.ofNanos(pause));
                host.pause(pause);
            }
            if (climate.jumps() && chance.in(0.02)) {
                host.moveClock(chance.upTo(6 * LEASE));
            }
        }
        fibers.suspend(delay());
    }

    private long delay() {
        if (!healed && !climate.quiet() && chance.in(0.01)) {
            return chance.upTo(LEASE + LEASE / 2);
        }
        return chance.upTo(chance.in(0.1) ? RARE_DELAY : COMMON_DELAY);
    }

    /** What happens to the next command. */
    Fault fault() {
        return healed || !chance.in(climate.faults()) ? Fault.NONE : chance.oneOf(List.of(Fault.values()));
    }

    /** Sends one command that stands alone. */
    <R> R send(String command, String key, Supplier<R> execution) {
        Host sender = here();
        long sentAt = fibers.now();
        step();
        Fault fault = fault();
        history.note(() -> sender.name + " " + command + " " + key + (fault == Fault.NONE ? "" : ": " + fault));
        R answer = null;
        switch (fault) {
            case NONE -> answer = execution.get();
            case TWICE -> {
                execution.get();
                answer = execution.get();
            }
            case REPLY_LOST -> execution.get();
            case LOST -> {}
            case LATE -> {
                long delay = chance.upTo(LEASE + LEASE / 4);
                if (climate.jumps() || fibers.now() + delay - sentAt >= LEASE) {
                    history.lateBeyondTheLease(command, key);
                }
                fibers.after(delay, () -> {
                    history.note(() -> "late " + command + " " + key + " of " + sender.name);
                    execution.get();
                });
            }
        }
        if (fault != Fault.NONE) {
            sender.unsettled.add(key);
        }
        step();
        if (answer == null) {
            throw new StoreUnavailableException("The answer to " + command + " is lost", null);
        }
        return answer;
    }

    /** What can happen to a command. */
    enum Fault {
        NONE,
        LOST,
        REPLY_LOST,
        LATE,
        TWICE
    }
}
