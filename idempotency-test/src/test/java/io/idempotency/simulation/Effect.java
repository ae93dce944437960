package io.idempotency.simulation;

/**
 * A line of the ledger: what one attempt has done.
 *
 * @param key of the call
 * @param payload of the call
 * @param attempt number of the attempt
 */
record Effect(String key, String payload, int attempt) {

    String answer() {
        return "done by " + attempt;
    }
}
