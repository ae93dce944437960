package io.idempotency.spring.client;

import io.idempotency.IdempotencyContext;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which calls get a key, and which one. */
final class CallKeys {

    private final String header;
    private final Set<String> methods;
    private final IdempotencyKeyGenerator keys;
    private final boolean childKeys;

    CallKeys(String header, Set<String> methods, IdempotencyKeyGenerator keys, boolean childKeys) {
        this.header = header;
        this.methods = methods;
        this.keys = keys;
        this.childKeys = childKeys;
    }

    String header() {
        return header;
    }

    boolean areFor(String method) {
        return methods.contains(method);
    }

    /** @param context the attempt that makes the call, null outside of one */
    String next(String method, String address, @Nullable IdempotencyContext context) {
        return childKeys && context != null ? ChildKeys.next(context, method + " " + address) : keys.nextKey();
    }
}
