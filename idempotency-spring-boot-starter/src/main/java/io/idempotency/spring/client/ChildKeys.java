package io.idempotency.spring.client;

import io.idempotency.IdempotencyContext;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;

/** Tells calls of one attempt apart that look the same, whichever client makes them. */
final class ChildKeys {

    private static final Map<IdempotencyContext, Map<String, Integer>> SENT =
            Collections.synchronizedMap(new WeakHashMap<>());

    private ChildKeys() {}

    /** @param call what is called, the same on every attempt */
    static String next(IdempotencyContext context, String call) {
        Map<String, Integer> counts =
                SENT.computeIfAbsent(context, each -> Collections.synchronizedMap(new HashMap<>()));
        return context.childKey(call + " #" + counts.merge(call, 1, Integer::sum));
    }
}
