package io.idempotency.spring.web;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyException;
import io.idempotency.engine.Call;
import io.idempotency.engine.Completion;
import io.idempotency.engine.Decision;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.OperationSettings;
import io.idempotency.engine.RunningAttempt;
import io.idempotency.spring.aop.KeyExpression;
import io.idempotency.spring.web.IncomingReader.Incoming;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.web.servlet.HandlerExceptionResolver;

/** Runs requests by the engine, each once, and answers them: with what the handler says, a replay or a refusal. */
final class ProtectedRuns {

    private final IdempotencyEngine engine;
    private final Marks marks;
    private final WebSettings settings;
    private final StatusPolicy statusPolicy;
    private final ReplayableHeaders replayable;
    private final Answers answers;
    private final Supplier<List<HandlerExceptionResolver>> exceptionResolvers;

    ProtectedRuns(
            IdempotencyEngine engine,
            Marks marks,
            WebSettings settings,
            StatusPolicy statusPolicy,
            Answers answers,
            Supplier<List<HandlerExceptionResolver>> exceptionResolvers) {
        this.engine = engine;
        this.marks = marks;
        this.settings = settings;
        this.statusPolicy = statusPolicy;
        this.replayable = new ReplayableHeaders(settings.replayHeaders());
        this.answers = answers;
        this.exceptionResolvers = exceptionResolvers;
    }

    /** @param key empty if it is going to be made of the handler's arguments */
    void run(IdempotentHandler handler, Incoming incoming, String key, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        HttpOperation operation = handler.operation();
        try (BufferedResponse buffered = new BufferedResponse(response, settings)) {
            Exchange exchange = new Exchange(handler, incoming.request(), buffered, chain, replayable, statusPolicy);
            KeyExpression expression = operation.key();
            if (expression == null) {
                Call call = new Call(operation.settings(), incoming.scope(), key, incoming.fingerprint());
                run(call, exchange, chain);
            } else {
                BusinessKey businessKey =
                        new BusinessKey(operation, expression, incoming.scope(), incoming.fingerprint());
                runLate(businessKey, exchange, chain);
            }
        }
    }

    private void run(Call call, Exchange exchange, FilterChain chain) throws IOException, ServletException {
        if (call.settings().guarantee() == Guarantee.EXACTLY_ONCE) {
            marks.during(
                    exchange.request(),
                    exchange,
                    () -> execute(exchange, call, () -> engine.execute(call, exchange::run)));
        } else {
            begin(call, exchange, chain);
        }
    }

    // The key is made of what the handler is called with, so that it is claimed at the gate.
    private void runLate(BusinessKey key, Exchange exchange, FilterChain chain) throws IOException, ServletException {
        OperationSettings operation = exchange.handler().operation().settings();
        if (operation.guarantee() == Guarantee.EXACTLY_ONCE) {
            marks.during(
                    exchange.request(),
                    exchange,
                    () -> execute(
                            exchange,
                            null,
                            () -> engine.executeLate(operation, claim -> {
                                exchange.claimsAtTheGate(key, claim);
                                return exchange.runLate();
                            })));
        } else {
            LeasedRun run = newRun(exchange);
            exchange.claimsAtTheGate(key, call -> run.claimLate(engine, call));
            run.begin(chain);
        }
    }

    private LeasedRun newRun(Exchange exchange) {
        CachedRequest request = exchange.request();
        LeasedRun run = new LeasedRun(exchange, answers, () -> marks.remove(request));
        exchange.leased(run);
        marks.set(request, exchange);
        return run;
    }

    // A leased run may outlive this call.
    private void begin(Call call, Exchange exchange, FilterChain chain) throws IOException, ServletException {
        CachedRequest request = exchange.request();
        HttpServletResponse response = exchange.response().real();
        Decision decision;
        try {
            decision = engine.begin(call);
        } catch (IdempotencyException refusal) {
            answers.refuse(request, response, refusal);
            return;
        }
        if (decision instanceof Decision.Replay done) {
            marks.during(request, exchange, () -> replay(call, done.completion(), exchange));
        } else if (decision instanceof Decision.Proceed proceed) {
            RunningAttempt attempt = proceed.attempt().orElse(null);
            if (attempt == null) {
                request.allowAsync();
                marks.during(
                        request, new Mark.Unprotected(exchange.handler()), () -> chain.doFilter(request, response));
                return;
            }
            LeasedRun run = newRun(exchange);
            run.claimed(call, attempt);
            run.begin(chain);
        } else {
            throw new IllegalStateException("Unknown decision " + decision);
        }
    }

    /** @param call null if its key is claimed at the gate */
    private void execute(Exchange exchange, @Nullable Call call, Execution execution)
            throws IOException, ServletException {
        Completion completion;
        try {
            completion = execution.run();
        } catch (Throwable thrown) {
            afterFailure(exchange, thrown);
            return;
        }
        Call of = call == null ? exchange.lateCall() : call;
        IdempotencyException refusal = exchange.refusal();
        if (refusal != null) {
            afterFailure(exchange, refusal);
        } else if (completion instanceof Completion.Replayed replayed && of != null) {
            replay(of, replayed, exchange);
        } else if (completion instanceof Completion.Executed executed) {
            exchange.send(executed, answers.problems());
        } else {
            throw new IllegalStateException("Unknown completion " + completion);
        }
    }

    private void replay(Call call, Completion.Replayed replayed, Exchange exchange)
            throws IOException, ServletException {
        if (exchange.passesForReplay()) {
            answers.replay(
                    call, replayed, exchange.request(), exchange.response().real());
        }
    }

    // The engine's own failures: the work keeps what it throws for itself.
    private void afterFailure(Exchange exchange, Throwable thrown) throws IOException, ServletException {
        if (exchange.isAnsweredDespite(thrown)) {
            exchange.send(new Completion.Executed(false, true), answers.problems());
            return;
        }
        if (exchange.isStopped()) {
            exchange.leaveTheGate();
        } else {
            exchange.discard();
        }
        if (thrown instanceof IdempotencyException refusal) {
            answers.refuse(exchange.request(), exchange.response().real(), refusal);
        } else if (!exchange.letApplicationAnswer(thrown, exceptionResolvers.get())) {
            Failures.rethrow(thrown);
        }
    }

    /** What the engine does with an exchange. */
    private interface Execution {
        Completion run() throws Throwable;
    }
}
