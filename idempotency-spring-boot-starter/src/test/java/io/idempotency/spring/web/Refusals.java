package io.idempotency.spring.web;

import io.idempotency.DuplicateRejectedException;
import io.idempotency.IdempotencyException;
import io.idempotency.InvalidIdempotencyKeyException;
import io.idempotency.KeyReusedException;
import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.OperationInProgressException;
import io.idempotency.OutcomeUnknownException;
import io.idempotency.ProblemCode;
import io.idempotency.RequestTooLargeException;
import io.idempotency.ResultNotReplayableException;
import io.idempotency.ResultUnreadableException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.UnknownCallerException;
import java.time.Duration;
import java.util.List;

/** One refusal of each kind. */
final class Refusals {

    private Refusals() {}

    static final String SECRET = "s3cr3t\"\\<b>";

    static List<IdempotencyException> all() {
        return List.of(
                new MissingIdempotencyKeyException(SECRET),
                new InvalidIdempotencyKeyException(SECRET),
                new UnknownCallerException(SECRET),
                new KeyReusedException(SECRET),
                new OperationInProgressException(SECRET, Duration.ofMillis(2500)),
                new OutcomeUnknownException(SECRET),
                new DuplicateRejectedException(SECRET, Duration.ofMillis(2500)),
                new ResultNotReplayableException(SECRET),
                new ResultUnreadableException(SECRET, null),
                new RequestTooLargeException(SECRET),
                new StoreUnavailableException(SECRET, null));
    }

    static IdempotencyException of(ProblemCode code) {
        return all().stream()
                .filter(refusal -> refusal.code() == code)
                .findFirst()
                .orElseThrow();
    }
}
