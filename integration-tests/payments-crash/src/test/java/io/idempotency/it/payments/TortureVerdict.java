package io.idempotency.it.payments;

import io.idempotency.Guarantee;
import java.util.ArrayList;
import java.util.List;

/**
 * What was found.
 *
 * @param keys how many were asked for
 * @param effects how many payments there are
 * @param twice keys with more than one payment
 * @param unexplained keys with more payments than the guarantee allows
 * @param excess the payments beyond what the guarantee allows
 * @param differing keys whose successful answers are not all the same although each result was stored
 * @param lost keys with an answer that tells of a payment which is not there
 * @param unknown keys that are answered with {@code outcome-unknown} for good
 * @param silent keys without a payment and without an unknown outcome
 */
record TortureVerdict(
        int keys,
        long effects,
        List<String> twice,
        List<String> unexplained,
        long excess,
        List<String> differing,
        List<String> lost,
        List<String> unknown,
        List<String> silent) {

    private static final int SHOWN = 20;

    /**
     * What contradicts the guarantee; empty if it has held.
     *
     * @param forgotten records that the store was made to forget, each of which may cost one more payment and answer
     */
    List<String> contradictions(Guarantee guarantee, long forgotten) {
        List<String> contradictions = new ArrayList<>();
        if (excess > forgotten) {
            contradictions.add(excess + " payments too many, of " + some(unexplained));
        }
        if (differing.size() > forgotten) {
            contradictions.add("different answers for " + some(differing));
        }
        if (!lost.isEmpty()) {
            contradictions.add("payments that were told of and are not there: " + some(lost));
        }
        if (guarantee != Guarantee.AT_MOST_ONCE && !unknown.isEmpty()) {
            contradictions.add("unknown outcomes of " + some(unknown));
        }
        if (!silent.isEmpty()) {
            contradictions.add("neither paid nor unknown: " + some(silent));
        }
        return contradictions;
    }

    private static String some(List<String> keys) {
        return keys.size() <= SHOWN ? keys.toString() : keys.subList(0, SHOWN) + " and more, in all " + keys.size();
    }
}
