package io.idempotency.spring.client;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/** What ties the logs of both sides together. */
record RequestId(String mdcKey, String header) {

    @Nullable
    String current() {
        return MDC.get(mdcKey);
    }
}
