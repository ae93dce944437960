package io.idempotency.it.jpa;

import io.idempotency.it.jpa.BookingService.RefusedBeforeCommit;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;

/** An inner service that always refuses. */
class RefusingService {

    @Transactional
    public void refuse() {
        throw new RefusedException();
    }

    @TransactionalEventListener(phase = TransactionPhase.BEFORE_COMMIT)
    public void refuse(RefusedBeforeCommit event) {
        throw new RefusedException();
    }
}
