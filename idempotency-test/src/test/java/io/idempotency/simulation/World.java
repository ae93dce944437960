package io.idempotency.simulation;

import io.idempotency.Guarantee;
import io.idempotency.engine.Call;
import io.idempotency.engine.DefaultOutcomePolicy;
import io.idempotency.engine.OperationSettings;
import io.idempotency.simulation.Client.Answer;
import io.idempotency.simulation.Client.Door;
import io.idempotency.simulation.SimulatedWork.Ending;
import io.idempotency.simulation.SimulatedWork.Refused;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.OutcomePolicy;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Some processes, their clients and one store, for as long as the calls of one seed take. */
final class World {

    static final List<String> KEYS = List.of("a", "b");
    private static final int MOST_HOSTS = 6;

    final Fibers fibers = new Fibers();
    final Chance chance;
    final Climate climate;
    final History history;
    final Network network;
    final SimulatedDatabase database;
    private final IdempotencyStore store;
    private final OperationSettings settings;
    private int hosts;

    World(long seed, Weakness weakness, boolean tracing) {
        chance = new Chance(seed);
        climate = Climate.by(chance);
        history = new History(climate, fibers, tracing);
        network = new Network(fibers, chance, climate, history, this::died);
        database = new SimulatedDatabase(climate.claiming(), weakness, fibers, chance, network, history);
        store = climate.guarantee() == Guarantee.EXACTLY_ONCE
                ? database
                : new Wire(
                        new InMemoryIdempotencyStore(
                                fibers::now, Clock.fixed(Instant.EPOCH, ZoneOffset.UTC), 1000, 1_000_000),
                        weakness,
                        network,
                        history);
        settings = OperationSettings.of("pay", climate.guarantee())
                .lease(Climate.LEASE)
                .maxExecution(climate.maxExecution())
                .waitAtMost(climate.waitAtMost())
                .retention(Duration.ofHours(24))
                .storeFailures(List.of(Refused.class))
                .outcomePolicy(policy(weakness))
                .transactions(database)
                .build();
    }

    private static OutcomePolicy policy(Weakness weakness) {
        OutcomePolicy policy = new DefaultOutcomePolicy(List.of(Refused.class), List.of());
        return weakness != Weakness.WHAT_IS_OPEN_IS_RELEASED
                ? policy
                : (failure, guarantee) -> policy.onThrow(failure, guarantee) == OutcomePolicy.Disposition.HOLD
                        ? OutcomePolicy.Disposition.RELEASE
                        : policy.onThrow(failure, guarantee);
    }

    /** Lives until nothing happens any more, heals everything, and looks what became of each key. */
    void run() throws Throwable {
        history.note(climate::toString);
        int first = chance.between(2, 3);
        for (int i = 0; i < first; i++) {
            boot(chance.between(1, 3));
        }
        fibers.runToTheEnd();
        network.heal();
        Host last = boot(0);
        fibers.start(last, 3 * Climate.LEASE.toNanos(), () -> KEYS.forEach(key -> settle(new Client(this, last), key)));
        fibers.runToTheEnd();
        KEYS.forEach(history::check);
    }

    private Host boot(int clients) {
        Host host = new Host("host " + ++hosts, fibers, chance, store, history);
        for (int i = 0; i < clients; i++) {
            fibers.start(host, chance.upTo(2 * Climate.LEASE.toNanos()), new Client(this, host));
        }
        return host;
    }

    private void died(Host host) {
        history.note(() -> host.name + " dies");
        host.active.keySet().forEach(key -> history.openEnd(key, "died"));
        host.unsettled.forEach(key -> history.openEnd(key, "died before it was tidied up"));
        host.die();
        database.died(host);
        if (hosts < MOST_HOSTS) {
            fibers.after(chance.upTo(2 * Climate.LEASE.toNanos()), () -> boot(chance.between(1, 2)));
        }
    }

    private void settle(Client client, String key) {
        Set<Answer> answers = EnumSet.noneOf(Answer.class);
        for (String payload : List.of("P", "Q")) {
            answers.add(client.call(key, payload, Door.DIRECT, Ending.DONE));
        }
        boolean settled = answers.contains(Answer.SUCCESS) || answers.contains(Answer.UNKNOWN) && history.isOpen(key);
        history.require(
                settled && !answers.contains(Answer.IN_PROGRESS) && !answers.contains(Answer.FAILED),
                key + " gets " + answers + " in the end");
    }

    Call call(String key, String payload) {
        Call call = new Call(settings, "", key, Fingerprint.sha256("raw/1", payload.getBytes(StandardCharsets.UTF_8)));
        history.knows(call.id(), key);
        return call;
    }
}
