package io.idempotency.spring.client;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/** What ties the logs of both sides together. */
record RequestId(String mdcKey, String header) {

    // What an incoming request had may be anything. It must neither fail the call nor get into the logs of the callee.
    private static final Pattern ID = Pattern.compile("[\\x21-\\x7e]{1,255}");

    /** Null if there is none, or none that can be sent. */
    @Nullable
    String current() {
        String id = MDC.get(mdcKey);
        return id != null && ID.matcher(id).matches() ? id : null;
    }
}
