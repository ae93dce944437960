package io.idempotency.spring.web;

import io.idempotency.FingerprintScheme;
import io.idempotency.engine.OperationSettings;
import io.idempotency.spring.aop.ArgumentExpression;
import io.idempotency.spring.aop.IdempotentMethod;
import io.idempotency.spring.aop.KeyExpression;
import org.jspecify.annotations.Nullable;

/**
 * What is configured for the requests of a handler.
 *
 * @param settings how its operation is run
 * @param keyRequired whether a request without a key is refused; otherwise it runs unprotected
 * @param fingerprintScheme how requests are compared
 * @param key the key of the arguments; null for the header
 * @param fingerprint the part of the arguments that is compared; null for the whole request
 */
record HttpOperation(
        OperationSettings settings,
        boolean keyRequired,
        FingerprintScheme fingerprintScheme,
        @Nullable KeyExpression key,
        @Nullable ArgumentExpression fingerprint) {

    static HttpOperation of(IdempotentMethod method) {
        return new HttpOperation(
                method.settings(),
                method.keyRequired(),
                method.fingerprintScheme(),
                method.key(),
                method.fingerprint());
    }

    String name() {
        return settings.operation();
    }
}
