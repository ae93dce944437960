package io.idempotency.test;

import java.util.Set;

/** Mistakes that services make, and the rules that each of them breaks. */
enum HttpFlaw {
    CALLERS_SHARE_KEYS("keepsTheKeysOfCallersApart"),
    CALLERS_SHARE_RESULTS_UNNOTICED("keepsTheKeysOfCallersApart"),
    CALLERS_DISPLACE_EACH_OTHER("keepsTheKeysOfCallersApart"),
    PAYLOAD_IS_NOT_COMPARED("refusesAnotherRequestUnderTheSameKey"),
    REPLAYS_ARE_NOT_MARKED(
            "answersARetryWithTheFirstResult",
            "doesTheWorkOfManyEqualRequestsOnce",
            "keepsTheKeysOfCallersApart",
            "knowsAKeyHoweverItIsWritten",
            "refusesAnotherRequestUnderTheSameKey");

    final Set<String> brokenRules;

    HttpFlaw(String... brokenRules) {
        this.brokenRules = Set.of(brokenRules);
    }
}
