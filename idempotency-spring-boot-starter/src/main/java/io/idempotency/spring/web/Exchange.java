package io.idempotency.spring.web;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyException;
import io.idempotency.engine.Attempt;
import io.idempotency.engine.Call;
import io.idempotency.engine.Completion;
import io.idempotency.engine.Finish;
import io.idempotency.engine.LateWork;
import io.idempotency.engine.OperationSettings;
import io.idempotency.engine.RunningAttempt;
import io.idempotency.spi.OutcomePolicy.Disposition;
import io.idempotency.spi.StoredResult;
import io.idempotency.spring.web.StoredResponse.Form;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.context.request.async.WebAsyncManager;
import org.springframework.web.context.request.async.WebAsyncUtils;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * One request with a key and its response, between the filter and the gate. Used by one thread at a time.
 *
 * <p>A run goes through the chain once, with the engine around it; what is to be sent is decided after the engine has recorded it. A
 * replay goes through the chain as well, so that everything that may refuse the caller is asked again, up to the gate.
 */
final class Exchange implements Mark {

    private static final Logger log = LoggerFactory.getLogger(Exchange.class);

    private static final String BY_RULE = Exchange.class.getName();

    private final IdempotentHandler handler;
    private final CachedRequest request;
    private final BufferedResponse response;
    private final FilterChain chain;
    private final ReplayableHeaders replayable;
    private final StatusPolicy statusPolicy;
    private boolean replaying;
    private boolean ran;
    private boolean reached;
    private boolean inside;
    private boolean threw;
    private volatile boolean cutOff;
    private Disposition verdict = Disposition.UNDECIDED;
    private boolean stopped;
    private @Nullable BusinessKey businessKey;
    private LateWork.@Nullable Claim claim;
    private @Nullable Call lateCall;
    private @Nullable IdempotencyException refusal;
    private @Nullable LeasedRun leased;
    private @Nullable Attempt attempt;
    private @Nullable Finish finish;
    private @Nullable Throwable failure;

    Exchange(
            IdempotentHandler handler,
            CachedRequest request,
            BufferedResponse response,
            FilterChain chain,
            ReplayableHeaders replayable,
            StatusPolicy statusPolicy) {
        this.handler = handler;
        this.request = request;
        this.response = response;
        this.chain = chain;
        this.replayable = replayable;
        this.statusPolicy = statusPolicy;
    }

    IdempotentHandler handler() {
        return handler;
    }

    /** The run that may outlive the call of the filter; null under EXACTLY_ONCE and for a replay. */
    @Nullable
    LeasedRun leased() {
        return leased;
    }

    void leased(LeasedRun run) {
        leased = run;
    }

    /** The key is going to be claimed at the gate, with what the handler is called with. */
    void claimsAtTheGate(BusinessKey key, LateWork.Claim by) {
        businessKey = key;
        claim = by;
    }

    /** The call whose key was claimed at the gate; null before and without one. */
    @Nullable
    Call lateCall() {
        return lateCall;
    }

    /** Why the gate has stopped the call, if it was not for a record. */
    @Nullable
    IdempotencyException refusal() {
        return refusal;
    }

    /** Whether the gate has stopped the call before its handler. */
    boolean isStopped() {
        return stopped;
    }

    // At the gate

    /** Whether the handler was called: what it calls or forwards to is covered by its own record. */
    boolean wasReached() {
        return reached;
    }

    boolean isOf(MethodInvocation invocation, Class<?> targetClass) {
        return handler.isMethod(invocation.getMethod(), targetClass);
    }

    /** Calls the handler, or stops the call because its response is known. */
    @Nullable
    Object enter(MethodInvocation invocation) throws Throwable {
        if (inside) {
            return invocation.proceed();
        }
        reached = true;
        if (replaying || stopped) {
            throw ReplaySignal.INSTANCE;
        }
        if (businessKey != null && attempt == null) {
            claimAtTheGate(businessKey, invocation.getArguments());
        }
        inside = true;
        threw = false;
        verdict = Disposition.UNDECIDED;
        if (attempt instanceof RunningAttempt running) {
            BoundCallable.in(request, running);
        }
        try (IdempotencyContext.Scope ignored = bind()) {
            return invocation.proceed();
        } catch (Throwable thrown) {
            threw(thrown);
            throw thrown;
        } finally {
            inside = false;
        }
    }

    // In the engine

    /** Goes through the chain and says what becomes of the attempt. Throws nothing: what the chain throws is kept for later. */
    Finish run(Attempt running) {
        begin(running);
        try {
            chain.doFilter(request, response);
        } catch (Throwable thrown) {
            failed(thrown);
        }
        return decide();
    }

    /** The same for an attempt whose key is claimed at the gate. */
    Finish runLate() {
        try {
            chain.doFilter(request, response);
        } catch (Throwable thrown) {
            failed(thrown);
        }
        return decide();
    }

    void begin(Attempt running) {
        attempt = running;
        ran = true;
    }

    void failed(Throwable thrown) {
        // What the gate has thrown to stop the call is no failure of anybody.
        if (!(stopped && ReplaySignal.isIn(thrown))) {
            failure = thrown;
        }
    }

    /** The container has ended an asynchronous request before its handler had. */
    void cutOff() {
        cutOff = true;
    }

    /** Judges the exception with which an asynchronous handler has ended, before any advice maps it. */
    void noteAsynchronousResult() {
        if (reached
                && request.getAttribute(WebAsyncUtils.WEB_ASYNC_MANAGER_ATTRIBUTE) instanceof WebAsyncManager manager
                && manager.hasConcurrentResult()
                && manager.getConcurrentResult() instanceof Throwable thrown) {
            threw(thrown);
        }
    }

    /** The same for a handler that the gate cannot be around: before it is called, perhaps in several dispatches. */
    void enterByRule() {
        if (reached && !replaying) {
            return;
        }
        reached = true;
        if (replaying) {
            throw ReplaySignal.INSTANCE;
        }
        request.setAttribute(BY_RULE, this);
        if (attempt instanceof RunningAttempt running) {
            BoundCallable.in(request, running);
        }
    }

    /** Lets the policy judge what such a handler has thrown, before any advice maps it. */
    static void noteFailure(HttpServletRequest request, Exception thrown) {
        if (request.getAttribute(BY_RULE) instanceof Exchange exchange && !exchange.threw) {
            exchange.threw(thrown);
        }
    }

    // Where the key is claimed at the gate, nobody has done it before.
    private IdempotencyContext.Scope bind() {
        return lateCall != null && attempt instanceof RunningAttempt running ? running.bind() : () -> {};
    }

    private void claimAtTheGate(BusinessKey key, @Nullable Object[] arguments) {
        try {
            Call call = key.callOf(arguments);
            if (call == null) {
                return;
            }
            lateCall = call;
            Attempt granted = claim == null ? null : claim.of(call);
            if (granted != null) {
                begin(granted);
                return;
            }
        } catch (IdempotencyException refused) {
            refusal = refused;
        }
        stopped = true;
        throw ReplaySignal.INSTANCE;
    }

    private void threw(Throwable thrown) {
        threw = true;
        verdict = attempt == null ? Disposition.UNDECIDED : attempt.judge(thrown);
    }

    Finish decide() {
        Finish decided = finish();
        finish = decided;
        return decided;
    }

    private Finish finish() {
        if (!reached || stopped) {
            return new Finish.Release();
        }
        return switch (disposition()) {
            case STORE -> new Finish.Store(stored(), verdict == Disposition.STORE || status() >= 400);
            case HOLD -> new Finish.Hold();
            case RELEASE, UNDECIDED -> new Finish.Release();
        };
    }

    /** Whether the response is one that duplicates get, as far as that is known before its body. */
    boolean isToBeStored() {
        return reached && attempt != null && disposition() == Disposition.STORE;
    }

    Finish.Store storedWithoutBody() {
        return new Finish.Store(response.capture(replayable, false).asNotReplayable(), true);
    }

    /** Whether the response is written while the handler works. */
    boolean isStream() {
        String type = response.getContentType();
        return request.isStreaming() || (type != null && type.startsWith("text/event-stream"));
    }

    private Disposition disposition() {
        if (wasAsynchronous() || response.isIncomplete()) {
            // In a transaction, so that nothing has happened then.
            return Disposition.RELEASE;
        }
        if (verdict != Disposition.UNDECIDED) {
            return verdict;
        }
        if (threw && status() < 400 && attempt != null && attempt.rollbackOnly()) {
            // An advice has answered for an exception that undid everything: the answer stands, and a retry runs again.
            return Disposition.RELEASE;
        }
        Disposition byStatus = statusPolicy.onStatus(status(), settings().guarantee());
        // The work that was cut off may still be going on, so that its key must not be free.
        return cutOff && (threw || byStatus != Disposition.STORE) ? Disposition.HOLD : byStatus;
    }

    private StoredResult stored() {
        if (failure != null) {
            return new StoredResponse(Form.ERROR, 500, null, null, List.of(), new byte[0]).asValue();
        }
        boolean withBody = settings().storeResult() && response.isWhole();
        StoredResponse captured = response.capture(replayable, withBody);
        return withBody ? captured.asValue() : captured.asNotReplayable();
    }

    private int status() {
        return failure == null ? response.getStatus() : 500;
    }

    // Spring MVC does not try where it is told that it is not supported: it throws, and an advice may have handled
    // that.
    private boolean wasAsynchronous() {
        if (leased != null) {
            return false;
        }
        if (request.hasStartedAsync() || (failure != null && Failures.isMissingAsyncSupport(failure))) {
            return true;
        }
        return request.getAttribute(DispatcherServlet.EXCEPTION_ATTRIBUTE) instanceof Throwable handled
                && Failures.isMissingAsyncSupport(handled);
    }

    private OperationSettings settings() {
        return handler.operation().settings();
    }

    // After the engine

    /** Sends the handler's own answer, which is recorded by now if it is to be. */
    void send(Completion.Executed executed, ProblemWriter problems) throws IOException, ServletException {
        if (executed.stored()) {
            tellExpiry();
        }
        if (reached && wasAsynchronous()) {
            refuseAsynchronous(problems);
        } else if (failure != null) {
            response.discardBody();
            Failures.rethrow(failure);
        } else if (response.isIncomplete()) {
            log.error(
                    "The response of operation {} is larger than max-spill-size or could not be written to a temporary file: 500",
                    settings().operation());
            response.discard();
            response.sendError(500);
            response.send();
        } else if (executed.rolledBack() && reached && !threw && status() < 400) {
            log.error(
                    "The handler of operation {} answered {}, but its transaction was marked for rollback: nothing is committed, 500",
                    settings().operation(),
                    status());
            response.discard();
            response.sendError(500, "The transaction was rolled back");
            response.send();
        } else {
            response.send();
        }
    }

    void tellExpiry() {
        if (!response.real().isCommitted()) {
            Answers.setExpiry(response.real(), settings().retention());
        }
    }

    private void refuseAsynchronous(ProblemWriter problems) throws IOException {
        String detail = "The handler of operation " + settings().operation() + " wanted to answer asynchronously. "
                + "Its guarantee EXACTLY_ONCE ends with the thread of the request, so that everything was rolled back."
                + " Choose the guarantee AT_LEAST_ONCE or AT_MOST_ONCE, or return the result itself.";
        log.error(detail);
        response.discard();
        problems.writeUnsupported(response.real(), detail);
    }

    /** Whether the answer stands although the attempt could not be ended: where nothing was to be stored, only its key is not free. */
    boolean isAnsweredDespite(Throwable thrown) {
        if (!ran || finish instanceof Finish.Store || (failure == null && reached && !threw && status() < 400)) {
            return false;
        }
        if (failure != null) {
            failure.addSuppressed(thrown);
        } else {
            log.warn("The key of a call whose result is not stored could not be freed", thrown);
        }
        return true;
    }

    /**
     * Offers a failure of the commit to the application's exception handlers, which see it where the transaction ends inside of the
     * handler. What they answer is sent and not stored.
     */
    boolean letApplicationAnswer(Throwable thrown, List<HandlerExceptionResolver> resolvers) throws IOException {
        if (!ran || !(thrown instanceof Exception exception)) {
            return false;
        }
        for (HandlerExceptionResolver resolver : resolvers) {
            ModelAndView answer = resolver.resolveException(request, response, handler.handler(), exception);
            if (answer != null && answer.isEmpty()) {
                response.send();
                return true;
            }
            if (answer != null) {
                response.discard();
                return false;
            }
        }
        return false;
    }

    @Nullable
    Throwable failure() {
        return failure;
    }

    /**
     * Goes through the chain up to the gate, unless the work has run before its result was lost to another attempt.
     *
     * @return whether the gate was reached, so that the stored response is the answer; otherwise the chain has given its own
     */
    boolean passesForReplay() throws IOException, ServletException {
        if (ran) {
            response.discard();
            return true;
        }
        if (stopped) {
            leaveTheGate();
            return true;
        }
        replaying = true;
        try {
            chain.doFilter(request, response);
        } catch (Throwable thrown) {
            if (!reached || !ReplaySignal.isIn(thrown)) {
                response.discardBody();
                Failures.rethrow(thrown);
            }
        }
        if (!reached) {
            response.send();
            return false;
        }
        leaveTheGate();
        return true;
    }

    /** Forgets what was answered to the signal that has stopped the call. */
    void leaveTheGate() {
        response.discardContent();
        forgetSignal();
    }

    // Error pages look for an exception in the request.
    private void forgetSignal() {
        Collections.list(request.getAttributeNames()).stream()
                .filter(name -> request.getAttribute(name) == ReplaySignal.INSTANCE)
                .forEach(request::removeAttribute);
    }

    /** Makes the response what it was before the handler, for another answer. */
    void discard() {
        response.discard();
    }

    BufferedResponse response() {
        return response;
    }

    CachedRequest request() {
        return request;
    }
}
