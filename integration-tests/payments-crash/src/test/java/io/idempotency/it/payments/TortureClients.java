package io.idempotency.it.payments;

import io.idempotency.it.payments.Client.Payment;
import java.io.IOException;
import java.net.ConnectException;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

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

    TortureClients(TortureFleet fleet, TortureHistory history, long seed) {
        this.fleet = fleet;
        this.history = history;
        for (int i = 0; i < CLIENTS; i++) {
            Random random = new Random(CLIENTS * seed + i);
            threads.execute(() -> run(random));
        }
    }

    private void run(Random random) {
        while (!stopped) {
            String key = "key-" + (calls.incrementAndGet() / CALLS_PER_KEY + random.nextInt(WINDOW));
            Payment payment = new Payment(key, "1");
            Client server = fleet.anyone(random);
            String fault = fault(random);
            try {
                history.answered(
                        key,
                        fault == null
                                ? server.tryToPay(key, payment)
                                : server.tryToPay(key, payment, "X-Simulate", fault),
                        fault);
            } catch (ConnectException e) {
                // There is no process now, so that this was no call.
                pause(random.nextInt(500));
            } catch (IOException e) {
                history.unanswered(key);
            }
        }
    }

    /** What is wrong with a payment, {@code null} if nothing is. */
    private static @Nullable String fault(Random random) {
        return switch (random.nextInt(12)) {
            case 0 -> "fail-before";
            case 1 -> "fail-after";
            case 2 -> "slow=" + random.nextInt(200);
            default -> null;
        };
    }

    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
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
