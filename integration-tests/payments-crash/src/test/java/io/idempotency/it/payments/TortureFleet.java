package io.idempotency.it.payments;

import io.idempotency.Guarantee;
import io.idempotency.it.servers.CrashablePostgres;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** The processes of one service and their database, and what is done to them. */
final class TortureFleet implements AutoCloseable {

    /** Longer than the lease: who wakes up then has lost it. */
    private static final long FREEZE_MILLIS = 3_000;

    private static final String LEASE = "2s";
    private static final String LOSS_RATE = "0.002";

    private final Random random = new Random();
    private final Database.Instance database;
    private final @Nullable CrashablePostgres server;
    private final String[] arguments;
    private final List<Member> members = new ArrayList<>();
    private int kills;
    private int freezes;
    private int databaseKills;

    TortureFleet(Database kind, Guarantee guarantee) {
        Database.Instance created = kind.create();
        if (kind == Database.POSTGRESQL) {
            server = new CrashablePostgres(created.directory());
            database = new Database.Instance(created.directory(), environmentOf(server));
        } else {
            server = null;
            database = created;
        }
        String operation = "--idempotency.operations.payment-controller-pay.";
        arguments = new String[] {
            operation + "guarantee=" + guarantee.name().toLowerCase(Locale.ROOT).replace('_', '-'),
            operation + "lease=" + LEASE,
            "--logging.level.org.apache.catalina.core.ContainerBase=off"
        };
        // A database file of H2 belongs to one process.
        for (int i = 0; i < (kind == Database.H2 ? 1 : 2); i++) {
            members.add(new Member());
        }
    }

    private static Map<String, String> environmentOf(CrashablePostgres server) {
        return Map.of(
                "SPRING_PROFILES_ACTIVE",
                "postgres",
                "SPRING_DATASOURCE_URL",
                server.url(),
                "SPRING_DATASOURCE_HIKARI_CONNECTION_TIMEOUT",
                "3000");
    }

    /** One that may be there or not. */
    Client anyone() {
        return members.get(ThreadLocalRandom.current().nextInt(members.size())).client;
    }

    /** Does something to one of them, or to their database. Takes as long as they need to come back. */
    void hurt() {
        Member victim = members.get(random.nextInt(members.size()));
        switch (random.nextInt(10)) {
            case 0, 1 -> {
                freezes++;
                victim.process.freeze();
                pause(FREEZE_MILLIS);
                victim.process.thaw();
            }
            case 2 -> {
                if (server != null) {
                    databaseKills++;
                    server.kill();
                    server.restart();
                }
            }
            default -> {
                kills++;
                victim.process.close();
                victim.start();
            }
        }
        pause(random.nextInt(1_500));
    }

    /** From now on nothing happens to them. */
    void heal() {
        members.forEach(member -> member.client.get("/failpoints?loss=0"));
    }

    String wounds() {
        return "kill -9 " + kills + ", freezes beyond the lease " + freezes + ", kill -9 of the database "
                + databaseKills + ", connections lost at every " + Math.round(1 / Double.parseDouble(LOSS_RATE))
                + "th JDBC call";
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
        if (server != null) {
            server.close();
        }
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
            client.get("/failpoints?loss=" + LOSS_RATE);
        }
    }
}
