package io.idempotency.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Resources that a native image has to contain. */
final class IdempotencyRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources()
                .registerPattern("io/idempotency/jdbc/*.sql")
                .registerPattern("io/idempotency/redis/*.lua")
                .registerResourceBundle("io.idempotency.spring.web.messages");
    }
}
