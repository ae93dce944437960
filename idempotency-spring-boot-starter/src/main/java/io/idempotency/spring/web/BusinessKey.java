package io.idempotency.spring.web;

import io.idempotency.InvalidIdempotencyKeyException;
import io.idempotency.engine.Call;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spring.aop.ArgumentExpression;
import io.idempotency.spring.aop.KeyExpression;
import io.idempotency.spring.aop.KeyText;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A key that is made of the arguments of a handler, so that it is not known before the gate. It belongs to the tenant and not to the
 * caller: the same order is the same order whoever sends it.
 */
final class BusinessKey {

    private static final String SCHEME = "expression/1";

    private final HttpOperation operation;
    private final KeyExpression key;
    private final String scope;
    private final Fingerprint ofRequest;

    BusinessKey(HttpOperation operation, KeyExpression key, String scope, Fingerprint ofRequest) {
        this.operation = operation;
        this.key = key;
        this.scope = scope;
        this.ofRequest = ofRequest;
    }

    /**
     * The call that these arguments mean; null if they make no key and none is required.
     *
     * @throws InvalidIdempotencyKeyException if they make none that can be used
     */
    @Nullable
    Call callOf(@Nullable Object[] arguments) {
        String text = operation.keyRequired() ? key.require(arguments) : key.keyOf(arguments);
        return text == null ? null : new Call(operation.settings(), scope, text, fingerprint(arguments));
    }

    private Fingerprint fingerprint(@Nullable Object[] arguments) {
        ArgumentExpression expression = operation.fingerprint();
        if (expression == null) {
            return ofRequest;
        }
        try {
            String text = KeyText.of(expression.valueOf(arguments));
            return text == null ? Fingerprint.NONE : Fingerprint.sha256(SCHEME, text.getBytes(StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            throw new InvalidIdempotencyKeyException("The fingerprint " + expression + " of operation "
                    + operation.settings().operation() + " cannot be used: " + e.getMessage());
        }
    }
}
