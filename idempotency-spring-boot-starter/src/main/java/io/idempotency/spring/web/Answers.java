package io.idempotency.spring.web;

import io.idempotency.IdempotencyException;
import io.idempotency.ResultUnreadableException;
import io.idempotency.engine.Call;
import io.idempotency.engine.Completion;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.StoredResult.Kind;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The answers that the filter gives in place of a handler: problems and replays. */
final class Answers {

    private static final Logger log = LoggerFactory.getLogger(Answers.class);

    static final String EXPIRES = "Idempotency-Expires";

    private final ProblemWriter problems;
    private final Replay replay;

    Answers(ProblemWriter problems, Replay replay) {
        this.problems = problems;
        this.replay = replay;
    }

    ProblemWriter problems() {
        return problems;
    }

    void refuse(HttpServletRequest request, HttpServletResponse response, IdempotencyException refusal)
            throws IOException {
        log.debug("Refused: {}", refusal.code().code(), refusal);
        problems.write(request, response, refusal);
    }

    void replay(Call call, Completion.Replayed replayed, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        StoredResult result = replayed.result();
        StoredResponse stored;
        try {
            stored = read(result);
        } catch (IllegalArgumentException e) {
            log.error(
                    "The stored response of operation {} ({}) cannot be read: {}",
                    call.settings().operation(),
                    call.id(),
                    e.getMessage());
            refuse(
                    request,
                    response,
                    new ResultUnreadableException("The stored response cannot be read: " + e.getMessage(), e));
            return;
        }
        setExpiry(response, replayed.retentionLeft());
        if (stored == null || result.kind() == Kind.NOT_REPLAYABLE) {
            problems.writeNotReplayable(request, response, stored);
        } else {
            replay.send(stored, request, response);
        }
    }

    /** Tells the client until when a retry gets this answer. By this machine's clock, for information only. */
    static void setExpiry(HttpServletResponse response, Duration retentionLeft) {
        response.setDateHeader(EXPIRES, System.currentTimeMillis() + retentionLeft.toMillis());
    }

    private static @Nullable StoredResponse read(StoredResult result) {
        return result.kind() == Kind.NOT_REPLAYABLE && !result.format().equals(StoredResponse.FORMAT)
                ? null
                : StoredResponse.read(result);
    }
}
