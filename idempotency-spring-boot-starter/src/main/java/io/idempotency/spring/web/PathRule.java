package io.idempotency.spring.web;

import io.idempotency.FingerprintScheme;
import io.idempotency.engine.OperationSettings;
import java.util.Set;
import org.springframework.web.util.pattern.PathPattern;

/**
 * Makes the requests of handlers idempotent that nobody can annotate: functional endpoints, and the controllers of other libraries.
 * Their gate is right before the handler, behind all interceptors: what it does itself to read and check a request is part of the run.
 *
 * @param methods HTTP methods, in capitals
 * @param pattern of the path below the context path
 * @param settings how the operation is run
 * @param keyRequired whether a request without a key is refused; otherwise it runs unprotected
 * @param fingerprintScheme how requests are compared, never {@link FingerprintScheme#DEFAULT}
 * @since 0.1.0
 */
public record PathRule(
        Set<String> methods,
        PathPattern pattern,
        OperationSettings settings,
        boolean keyRequired,
        FingerprintScheme fingerprintScheme) {

    public PathRule {
        methods = Set.copyOf(methods);
    }

    HttpOperation operation() {
        return new HttpOperation(settings, keyRequired, fingerprintScheme, null, null);
    }
}
