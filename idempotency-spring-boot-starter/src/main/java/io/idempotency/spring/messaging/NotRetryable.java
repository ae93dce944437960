package io.idempotency.spring.messaging;

import io.idempotency.DuplicateRejectedException;
import io.idempotency.InvalidIdempotencyKeyException;
import io.idempotency.KeyReusedException;
import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.OutcomeUnknownException;
import io.idempotency.ResultUnreadableException;
import io.idempotency.UnknownCallerException;
import org.springframework.kafka.listener.ExceptionClassifier;

/** Tells Spring Kafka which refusals do not become better by trying again. */
final class NotRetryable {

    private NotRetryable() {}

    /** @param candidate an error handler or a resolver of retry topics; others have no such setting */
    static void in(Object candidate) {
        if (candidate instanceof ExceptionClassifier classifier) {
            classifier.addNotRetryableExceptions(
                    KeyReusedException.class,
                    OutcomeUnknownException.class,
                    MissingIdempotencyKeyException.class,
                    InvalidIdempotencyKeyException.class,
                    UnknownCallerException.class,
                    DuplicateRejectedException.class,
                    ResultUnreadableException.class);
        }
    }
}
