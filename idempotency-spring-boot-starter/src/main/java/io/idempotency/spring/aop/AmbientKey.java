package io.idempotency.spring.aop;

import io.idempotency.IdempotencyContext;
import org.jspecify.annotations.Nullable;

/**
 * The key that came with the request or the message that is being worked on, for methods that name none.
 *
 * @param key the key
 * @param scope within which whoever chose the key can know that it is unique: the caller, the group, the queue
 * @since 0.1.0
 */
public record AmbientKey(String key, String scope) {

    private static final ThreadLocal<AmbientKey> CURRENT = new ThreadLocal<>();

    /** The key that is bound to this thread. */
    static @Nullable AmbientKey bound() {
        return CURRENT.get();
    }

    /** Binds a key to this thread until the returned scope is closed, on the same thread. */
    static IdempotencyContext.Scope bind(@Nullable AmbientKey key) {
        AmbientKey before = CURRENT.get();
        set(key);
        return () -> set(before);
    }

    private static void set(@Nullable AmbientKey key) {
        if (key == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(key);
        }
    }

    /** Where keys come from that are not bound by the library itself. */
    @FunctionalInterface
    public interface Source {

        /**
         * The key of what this thread works on; null if there is none.
         *
         * @throws io.idempotency.IdempotencyException if there is one that cannot be used
         */
        @Nullable
        AmbientKey current(String operation);
    }
}
