package io.idempotency.spring.client;

import io.idempotency.IdempotencyContext;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;

/** Tells calls of one attempt apart that look the same. */
final class ChildKeys {

    private final Map<IdempotencyContext, Map<String, Integer>> sent = Collections.synchronizedMap(new WeakHashMap<>());

    /** @param call what is called, the same on every attempt */
    String next(IdempotencyContext context, String call) {
        Map<String, Integer> counts =
                sent.computeIfAbsent(context, each -> Collections.synchronizedMap(new HashMap<>()));
        return context.childKey(call + " #" + counts.merge(call, 1, Integer::sum));
    }
}
