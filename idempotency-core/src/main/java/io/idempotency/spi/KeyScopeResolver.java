package io.idempotency.spi;

import org.jspecify.annotations.Nullable;

/**
 * Adds to the scope of keys, for example a tenant: the same key in two scopes is two records.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface KeyScopeResolver {

    /**
     * Called once per call, on the calling thread; for HTTP after security and before the dispatcher.
     *
     * @return the scope; empty to add nothing; {@code null} to refuse the call as {@code caller-unknown}
     */
    @Nullable
    String resolve(String operation);
}
