package io.idempotency.it.payments;

import io.idempotency.Guarantee;
import io.idempotency.it.payments.Client.Answer;
import io.idempotency.it.payments.TortureServers.Wound;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** The processes of one service, and what is done to them and their servers. */
final class TortureFleet implements AutoCloseable {

    /** Longer than the lease: who wakes up then has lost it. */
    private static final long FREEZE_MILLIS = 3_000;

    private static final String LEASE = "2s";

    /** Of the statements and commits, so many find their connection gone, before or after the database has done its part. */
    private static final String LOSS_RATE = "0.002";

    private static final int KILLS_AMONG_THE_WOUNDS = 6;
    private static final int FREEZES_AMONG_THE_WOUNDS = 2;

    private final Random random;
    private final Database.Instance database;
    private final String[] arguments;
    private final List<Member> members = new ArrayList<>();
    private final List<Wound> wounds = new ArrayList<>();
    private final Map<String, Integer> inflicted = new TreeMap<>();

    TortureFleet(TortureServers servers, int processes, Guarantee guarantee, Random random) {
        this.random = random;
        database = servers.database();
        String operation = "--idempotency.operations.payment-controller-pay.";
        arguments = new String[] {
            operation + "guarantee=" + guarantee.name().toLowerCase(Locale.ROOT).replace('_', '-'),
            operation + "lease=" + LEASE,
            "--spring.datasource.hikari.connection-timeout=3000",
            "--logging.level.org.apache.catalina.core.ContainerBase=off"
        };
        for (int i = 0; i < processes; i++) {
            members.add(new Member());
        }
        for (int i = 0; i < KILLS_AMONG_THE_WOUNDS; i++) {
            wounds.add(new Wound("kills", this::kill));
        }
        for (int i = 0; i < FREEZES_AMONG_THE_WOUNDS; i++) {
            wounds.add(new Wound("freezes", this::freeze));
        }
        wounds.addAll(servers.wounds());
        wounds.forEach(wound -> inflicted.put(wound.name(), 0));
    }

    /** One that may be there or not. */
    Client anyone(Random chosenBy) {
        return members.get(chosenBy.nextInt(members.size())).client;
    }

    /**
     * Does something to one of them, or to a server. Takes as long as they need to come back, and then a while of peace.
     *
     * @param peace how long that is at most
     */
    void hurt(Duration peace) {
        Wound wound = wounds.get(random.nextInt(wounds.size()));
        wound.inflict().run();
        inflicted.merge(wound.name(), 1, Integer::sum);
        pause(random.nextLong(peace.toMillis() + 1));
    }

    private void kill() {
        Member victim = victim();
        victim.process.close();
        victim.start();
    }

    private void freeze() {
        Member victim = victim();
        victim.process.freeze();
        pause(FREEZE_MILLIS);
        victim.process.thaw();
    }

    private Member victim() {
        return members.get(random.nextInt(members.size()));
    }

    /** From now on nothing happens to them. */
    void heal() {
        members.forEach(member -> member.loseConnections("0"));
    }

    /** What was done how often. */
    Map<String, Integer> inflicted() {
        return inflicted;
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        members.forEach(member -> member.process.close());
    }

    /** A process that is started again whenever it was killed. */
    private final class Member {

        private PaymentsProcess process;
        private volatile Client client;

        private Member() {
            start();
        }

        private void start() {
            process = PaymentsProcess.startWithFailpoints(database, arguments);
            client = new Client(process);
            loseConnections(LOSS_RATE);
        }

        private void loseConnections(String rate) {
            Answer answer = client.get("/failpoints?loss=" + rate);
            if (answer.status() != 200) {
                throw new IllegalStateException("There are no failpoints in the process: " + answer);
            }
        }
    }
}
