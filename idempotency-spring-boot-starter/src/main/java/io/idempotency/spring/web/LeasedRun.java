package io.idempotency.spring.web;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.engine.Attempt;
import io.idempotency.engine.Call;
import io.idempotency.engine.Completion;
import io.idempotency.engine.Decision;
import io.idempotency.engine.Finish;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.RunningAttempt;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A run under a leased guarantee: from its claim to the end of its response, over every thread and dispatch that has a part in it. It
 * is recorded once: when the response is complete, or before the first byte of one that does not fit into a record.
 */
final class LeasedRun implements AsyncStart, Passage {

    private static final Logger log = LoggerFactory.getLogger(LeasedRun.class);

    private final ReentrantLock lock = new ReentrantLock();
    private final Exchange exchange;
    private final Answers answers;
    private final Runnable onEnd;
    private @Nullable Call call;
    private @Nullable RunningAttempt attempt;
    private Completion.@Nullable Replayed replayed;
    private int passes;
    private boolean startedAsync;
    private boolean recorded;
    private boolean answered;
    private boolean ended;
    private @Nullable AsyncContext toComplete;

    /**
     * @param onEnd called when the response is settled and before it is sent
     */
    LeasedRun(Exchange exchange, Answers answers, Runnable onEnd) {
        this.exchange = exchange;
        this.answers = answers;
        this.onEnd = onEnd;
    }

    /** The key is claimed: before the first dispatch, or at the gate. */
    void claimed(Call granted, RunningAttempt running) {
        call = granted;
        attempt = running;
        exchange.begin(running);
    }

    /** Claims a key at the gate. */
    @Nullable
    Attempt claimLate(IdempotencyEngine engine, Call wanted) {
        Decision decision = engine.begin(wanted);
        if (decision instanceof Decision.Replay replay) {
            call = wanted;
            replayed = replay.completion();
            return null;
        }
        RunningAttempt running = ((Decision.Proceed) decision).attempt().orElse(null);
        if (running == null) {
            return IdempotencyEngine.unprotected();
        }
        call = wanted;
        attempt = running;
        return running;
    }

    /** Goes through the chain in the request's own dispatch. */
    void begin(FilterChain chain) throws IOException, ServletException {
        exchange.request().allowAsync(this);
        exchange.response().passBy(this);
        pass(chain, exchange.request(), exchange.response());
    }

    /** Goes through the chain in a dispatch that an asynchronous handler has asked for. */
    void resume(FilterChain chain, ServletRequest request, ServletResponse response)
            throws IOException, ServletException {
        if (isOnTheWay()) {
            chain.doFilter(request, response);
        } else {
            exchange.noteAsynchronousResult();
            pass(chain, request, response);
        }
    }

    private boolean isOnTheWay() {
        lock.lock();
        try {
            return passes > 0 || ended;
        } finally {
            lock.unlock();
        }
    }

    private void pass(FilterChain chain, ServletRequest request, ServletResponse response)
            throws IOException, ServletException {
        enter();
        try (IdempotencyContext.Scope ignored = bind()) {
            chain.doFilter(request, response);
        } catch (Throwable thrown) {
            exchange.failed(thrown);
        }
        if (leave()) {
            return;
        }
        try {
            conclude();
        } finally {
            if (toComplete != null) {
                toComplete.complete();
            }
        }
    }

    // Before a late claim there is nothing to be bound.
    private IdempotencyContext.Scope bind() {
        return attempt == null ? () -> {} : attempt.bind();
    }

    private void enter() {
        lock.lock();
        passes++;
        startedAsync = false;
        lock.unlock();
    }

    /** Whether the response goes on elsewhere. */
    private boolean leave() {
        lock.lock();
        try {
            passes--;
            return startedAsync && toComplete == null && exchange.failure() == null;
        } finally {
            lock.unlock();
        }
    }

    // Asynchronous requests

    @Override
    public HttpServletResponse response() {
        return exchange.response();
    }

    @Override
    public AsyncContext started(AsyncContext context) {
        lock.lock();
        try {
            startedAsync = true;
        } finally {
            lock.unlock();
        }
        context.addListener(new End());
        return new HeldAsyncContext(context, this);
    }

    Runnable bound(Runnable task) {
        return () -> {
            try (IdempotencyContext.Scope ignored = bind()) {
                task.run();
            }
        };
    }

    /** The application says that its response is complete. While its handler has not returned, the end waits for that. */
    void complete(AsyncContext context) {
        lock.lock();
        try {
            if (passes > 0) {
                toComplete = context;
                return;
            }
        } finally {
            lock.unlock();
        }
        try {
            conclude();
        } catch (IOException | ServletException | RuntimeException e) {
            log.debug("The response of operation {} could not be sent", operation(), e);
        } finally {
            context.complete();
        }
    }

    // The container has ended the request: nobody knows what the work is doing.
    private void abandon() {
        lock.lock();
        try {
            if (ended) {
                return;
            }
            ended = true;
            onEnd.run();
            if (!recorded && attempt != null) {
                log.warn(
                        "A request of operation {} timed out or failed before its response was complete; its outcome is not known",
                        operation());
                attempt.finish(new Finish.Hold());
            }
        } finally {
            lock.unlock();
        }
    }

    // Streams

    @Override
    public boolean isStream() {
        return exchange.isStream();
    }

    @Override
    public void open() throws IOException {
        lock.lock();
        try {
            if (answered) {
                throw new IOException("The client has got another answer");
            }
            if (ended) {
                throw new IOException("The response has ended");
            }
            if (attempt != null && call != null && exchange.isToBeStored()) {
                recordBeforeTheBody(call, attempt);
            }
        } finally {
            lock.unlock();
        }
    }

    private void recordBeforeTheBody(Call of, RunningAttempt running) throws IOException {
        Completion completion;
        try {
            completion = running.finish(exchange.storedWithoutBody());
        } catch (IdempotencyException refusal) {
            answerOtherwise(refusal);
            throw new IOException("The key was lost before the response was sent", refusal);
        }
        recorded = true;
        if (completion instanceof Completion.Executed done && done.stored()) {
            exchange.tellExpiry();
        }
        if (completion instanceof Completion.Replayed winner) {
            silence();
            answers.replay(of, winner, exchange.request(), exchange.response().real());
            throw new IOException("Another attempt has answered before");
        }
        if (!((Completion.Executed) completion).stored()) {
            StoreUnavailableException silent =
                    new StoreUnavailableException("A response that cannot be sent again could not be recorded", null);
            answerOtherwise(silent);
            throw new IOException(silent.getMessage(), silent);
        }
    }

    private void answerOtherwise(IdempotencyException refusal) throws IOException {
        recorded = true;
        silence();
        answers.refuse(exchange.request(), exchange.response().real(), refusal);
    }

    private void silence() {
        answered = true;
        exchange.discard();
        exchange.response().silence();
    }

    // The end

    private void conclude() throws IOException, ServletException {
        lock.lock();
        try {
            if (ended) {
                return;
            }
            ended = true;
            onEnd.run();
            if (answered) {
                log.debug("What the handler did after another answer", exchange.failure());
            } else if (recorded) {
                exchange.send(new Completion.Executed(false, false), answers.problems());
            } else if (exchange.isStopped()) {
                answerInPlace();
            } else if (attempt == null || call == null) {
                exchange.send(new Completion.Executed(false, false), answers.problems());
            } else {
                recordAndSend(call, attempt);
            }
        } finally {
            lock.unlock();
        }
    }

    private void answerInPlace() throws IOException {
        exchange.leaveTheGate();
        HttpServletResponse response = exchange.response().real();
        IdempotencyException refusal = exchange.refusal();
        if (refusal != null) {
            answers.refuse(exchange.request(), response, refusal);
        } else if (replayed != null && call != null) {
            answers.replay(call, replayed, exchange.request(), response);
        }
    }

    private void recordAndSend(Call of, RunningAttempt running) throws IOException, ServletException {
        Completion completion;
        try {
            completion = running.finish(exchange.decide());
        } catch (RuntimeException ours) {
            afterFailure(ours);
            return;
        }
        if (completion instanceof Completion.Replayed winner) {
            exchange.discard();
            answers.replay(of, winner, exchange.request(), exchange.response().real());
        } else {
            exchange.send((Completion.Executed) completion, answers.problems());
        }
    }

    private void afterFailure(RuntimeException ours) throws IOException, ServletException {
        if (exchange.isAnsweredDespite(ours)) {
            exchange.send(new Completion.Executed(false, false), answers.problems());
            return;
        }
        exchange.discard();
        if (!(ours instanceof IdempotencyException refusal)) {
            throw ours;
        }
        answers.refuse(exchange.request(), exchange.response().real(), refusal);
    }

    private String operation() {
        return exchange.handler().operation().settings().operation();
    }

    /** Hears what the container does to the request. */
    private final class End implements AsyncListener {

        @Override
        public void onComplete(AsyncEvent event) {
            abandon();
        }

        @Override
        public void onTimeout(AsyncEvent event) {
            exchange.cutOff();
        }

        @Override
        public void onError(AsyncEvent event) {
            exchange.cutOff();
        }

        @Override
        public void onStartAsync(AsyncEvent event) {}
    }
}
