package io.idempotency.spring.client;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Sends a call until it has an answer, and waits in between on the thread that makes it. */
final class BlockingRetries {

    private final RetrySchedule schedule;
    private final Pauses pauses;

    BlockingRetries(RetrySchedule schedule, Pauses pauses) {
        this.schedule = schedule;
        this.pauses = pauses;
    }

    interface Attempt<R extends Closeable> {

        Answer<R> send() throws IOException;
    }

    record Answer<R extends Closeable>(
            R response, int status, @Nullable String retryAfter) {}

    <R extends Closeable> R untilAnswered(Attempt<R> attempt) throws IOException {
        RetrySchedule.Call call = schedule.begin(pauses.nanoTime());
        while (true) {
            Duration pause;
            try {
                Answer<R> answer = attempt.send();
                pause = call.pauseAfter(answer.status(), answer.retryAfter(), pauses.nanoTime());
                if (pause == null) {
                    return answer.response();
                }
                answer.response().close();
            } catch (IOException failure) {
                pause = call.pauseAfterFailure(pauses.nanoTime());
                if (pause == null) {
                    throw failure;
                }
            }
            pauses.pause(pause);
        }
    }
}
