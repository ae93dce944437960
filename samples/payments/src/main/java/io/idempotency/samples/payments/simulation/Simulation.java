package io.idempotency.samples.payments.simulation;

import jakarta.servlet.http.HttpServletRequest;

/** What the header {@code X-Simulate} of a request asks for. */
final class Simulation {

    static final String FAIL_BEFORE = "fail-before";
    static final String FAIL_AFTER = "fail-after";
    static final String CRASH = "crash";
    static final String CRASH_AFTER_COMMIT = "crash-after-commit";

    private static final String HEADER = "X-Simulate";
    private static final String SLOW = "slow=";
    private static final int EXIT_CODE = 137;

    private Simulation() {}

    static boolean asksFor(HttpServletRequest request, String simulation) {
        return simulation.equals(request.getHeader(HEADER));
    }

    /** Milliseconds to be slow, 0 if the request does not ask for it. */
    static long slowMillis(HttpServletRequest request) {
        String header = request.getHeader(HEADER);
        return header != null && header.startsWith(SLOW) ? Long.parseLong(header.substring(SLOW.length())) : 0;
    }

    /** Ends the process on the spot: no shutdown hook, no rollback, nothing is closed. */
    static void crash() {
        Runtime.getRuntime().halt(EXIT_CODE);
    }
}
