package io.idempotency.spring.aop;

import io.idempotency.FingerprintScheme;
import io.idempotency.engine.OperationSettings;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * A method that carries {@link io.idempotency.Idempotent}, with everything that annotation, configuration and defaults say about it.
 *
 * @param method the most specific method, on the user's class
 * @param settings how its operation is run
 * @param keyRequired whether a call without a key is refused; otherwise it runs unprotected
 * @param fingerprintScheme how payloads are compared, never {@link FingerprintScheme#DEFAULT}
 * @param door how its calls come in
 * @param key the business key; null for the ambient one, for HTTP the header
 * @param fingerprint the part of the arguments that is compared; null for the whole payload
 * @since 0.1.0
 */
public record IdempotentMethod(
        Method method,
        OperationSettings settings,
        boolean keyRequired,
        FingerprintScheme fingerprintScheme,
        Door door,
        @Nullable KeyExpression key,
        @Nullable ArgumentExpression fingerprint) {

    /** A handler of requests without expressions. */
    public IdempotentMethod(
            Method method, OperationSettings settings, boolean keyRequired, FingerprintScheme fingerprintScheme) {
        this(method, settings, keyRequired, fingerprintScheme, Door.HTTP, null, null);
    }
}
