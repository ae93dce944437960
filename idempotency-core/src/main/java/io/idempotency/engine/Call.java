package io.idempotency.engine;

import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;

/**
 * One call of an operation, as a door has translated it.
 *
 * @param settings how the operation is run
 * @param scope within which the key is unique: caller, tenant, queue; may be empty
 * @param key the key
 * @param fingerprint of the payload
 * @param id identity of the record, made of the operation, the scope and the key
 * @since 0.1.0
 */
public record Call(OperationSettings settings, String scope, String key, Fingerprint fingerprint, RecordId id) {

    public Call(OperationSettings settings, String scope, String key, Fingerprint fingerprint) {
        this(settings, scope, key, fingerprint, RecordId.of(settings.operation(), scope, key));
    }

    ClaimRequest claimBy(Owner owner) {
        return new ClaimRequest(
                id,
                settings.operation(),
                settings.guarantee(),
                owner,
                fingerprint,
                settings.lease(),
                settings.retention(),
                null);
    }

    String operation() {
        return settings.operation();
    }
}
