package io.idempotency.samples.orders.simulation;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** What shall go wrong with which order, once. Kept in memory only: what comes after a crash is real. */
@Component
class Simulations {

    /** The event is published twice. */
    static final String DUPLICATE = "duplicate";

    /** The process ends when the broker has the event and the order is not marked as published. */
    static final String CRASH_AFTER_PUBLISH = "crash-after-publish";

    /** The process ends when the payment is committed and the event is not acknowledged. */
    static final String CRASH_AFTER_COMMIT = "crash-after-commit";

    private static final Logger log = LoggerFactory.getLogger(Simulations.class);
    private static final int EXIT_CODE = 137;

    private final Map<Long, String> byOrder = new ConcurrentHashMap<>();

    void plan(long orderId, String simulation) {
        byOrder.put(orderId, simulation);
    }

    /** Whether this is to happen to the order now. */
    boolean isDue(long orderId, String simulation) {
        return byOrder.remove(orderId, simulation);
    }

    /** Ends the process on the spot: no shutdown hook, no rollback, nothing is closed. */
    static void crash(String reason) {
        log.info("Crash: {}", reason);
        Runtime.getRuntime().halt(EXIT_CODE);
    }
}
