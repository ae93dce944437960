package io.idempotency.spring.web;

import io.idempotency.Guarantee;
import io.idempotency.spi.OutcomePolicy.Disposition;
import java.util.Set;

final class StandardStatusPolicy implements StatusPolicy {

    static final StandardStatusPolicy INSTANCE = new StandardStatusPolicy();

    private static final Set<Integer> PASSING = Set.of(401, 403, 408, 409, 421, 423, 425, 429);

    private StandardStatusPolicy() {}

    @Override
    public Disposition onStatus(int status, Guarantee guarantee) {
        if (status >= 500) {
            return guarantee == Guarantee.AT_MOST_ONCE ? Disposition.HOLD : Disposition.RELEASE;
        }
        return status < 200 || PASSING.contains(status) ? Disposition.RELEASE : Disposition.STORE;
    }
}
