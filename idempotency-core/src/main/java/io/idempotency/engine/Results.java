package io.idempotency.engine;

import io.idempotency.ResultUnreadableException;
import io.idempotency.spi.ResultTransformer;
import io.idempotency.spi.StoredResult;
import java.util.Optional;

/** Takes results through the user's transformer on their way to the store and back. */
final class Results {

    private final Optional<ResultTransformer> transformer;

    Results(Optional<ResultTransformer> transformer) {
        this.transformer = transformer;
    }

    StoredResult seal(StoredResult result) {
        return transformer
                .map(present -> result.transformed(present.id(), present.transform(result.payload())))
                .orElse(result);
    }

    StoredResult open(Call call, StoredResult stored) {
        if (stored.transformer().isEmpty()) {
            return stored;
        }
        ResultTransformer present = transformer
                .filter(candidate -> candidate.id().equals(stored.transformer()))
                .orElseThrow(() -> new ResultUnreadableException(
                        "The result of " + call.operation() + " " + call.id() + " was written by the transformer '"
                                + stored.transformer() + "', which this application does not have",
                        null));
        try {
            return stored.transformed("", present.restore(stored.payload()));
        } catch (RuntimeException e) {
            throw new ResultUnreadableException(
                    "The transformer '" + present.id() + "' cannot restore the result of " + call.operation() + " "
                            + call.id(),
                    e);
        }
    }
}
