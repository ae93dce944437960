package io.idempotency.it.payments;

import io.idempotency.it.payments.Client.Payment;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Clients that pay a moving window of keys, each key some times and often at once, and never wait for the end of a retry. */
final class TortureClients implements AutoCloseable {

    private static final int CLIENTS = 16;
    private static final int CALLS_PER_KEY = 5;
    private static final int WINDOW = 60;

    private final TortureFleet fleet;
    private final TortureHistory history;
    private final AtomicLong calls = new AtomicLong();
    private final ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    private volatile boolean stopped;

    TortureClients(TortureFleet fleet, TortureHistory history) {
        this.fleet = fleet;
        this.history = history;
        for (int i = 0; i < CLIENTS; i++) {
            threads.execute(this::run);
        }
    }

    private void run() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        while (!stopped) {
            String key = "key-" + (calls.incrementAndGet() / CALLS_PER_KEY + random.nextInt(WINDOW));
            Payment payment = new Payment(key, "1");
            try {
                history.answered(
                        key,
                        random.nextInt(4) == 0
                                ? fleet.anyone().tryToPay(key, payment, "X-Simulate", simulation(random))
                                : fleet.anyone().tryToPay(key, payment));
            } catch (IOException e) {
                history.lost(key);
                pause(random.nextInt(200));
            }
        }
    }

    // Nobody may be there for seconds.
    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static String simulation(ThreadLocalRandom random) {
        return switch (random.nextInt(3)) {
            case 0 -> "fail-before";
            case 1 -> "fail-after";
            default -> "slow=" + random.nextInt(200);
        };
    }

    /** Returns when the last call has ended. */
    @Override
    public void close() {
        stopped = true;
        threads.shutdown();
        try {
            if (!threads.awaitTermination(2, TimeUnit.MINUTES)) {
                throw new IllegalStateException("Calls do not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
