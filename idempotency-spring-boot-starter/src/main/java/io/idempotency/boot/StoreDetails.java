package io.idempotency.boot;

import java.util.Map;

/** What the health of a store says beside up or down. May ask the store's server. */
@FunctionalInterface
interface StoreDetails {

    /** Names and values, without anything that a caller sent. */
    Map<String, Object> current();
}
