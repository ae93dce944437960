package io.idempotency.spring.web;

import io.idempotency.Guarantee;
import io.idempotency.spi.OutcomePolicy.Disposition;

/**
 * Decides what becomes of an attempt by the status of its response, where no exception of the handler has decided it.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface StatusPolicy {

    /**
     * Called once per attempt that reached its handler, after the response is complete and before anything of it is sent. Must not
     * throw. Under {@link Guarantee#EXACTLY_ONCE} everything but {@link Disposition#STORE} rolls the transaction back, so that a 2xx
     * or 3xx that is not stored becomes a 500.
     *
     * @return {@code STORE}, {@code RELEASE} or {@code HOLD}; {@code UNDECIDED} counts as {@code RELEASE}
     */
    Disposition onStatus(int status, Guarantee guarantee);

    /**
     * The stock policy: 2xx, 3xx and 4xx are stored, except 401, 403, 408, 409, 421, 423, 425 and 429, which a caller can get over;
     * these and 5xx are released. Under {@link Guarantee#AT_MOST_ONCE} a 5xx is held.
     */
    static StatusPolicy standard() {
        return StandardStatusPolicy.INSTANCE;
    }
}
