package io.idempotency.spring.web;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyException;
import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.Mode;
import io.idempotency.UnknownCallerException;
import io.idempotency.engine.Call;
import io.idempotency.engine.Completion;
import io.idempotency.engine.Decision;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.OperationSettings;
import io.idempotency.engine.RunningAttempt;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.FingerprintStrategy;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.spring.aop.IdempotentMethod;
import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.spring.aop.KeyExpression;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.context.MessageSource;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.HandlerMapping;

/**
 * Protects the requests of idempotent handlers. Together with {@link IdempotencyGateAdvisor}: the filter knows the request before its
 * handler runs and the response after it, the gate knows whether the handler was reached. Whatever neither of them is meant for passes
 * untouched.
 *
 * <p>To be mapped behind Spring Security, for the dispatcher types REQUEST and ASYNC. It takes part once in a request, however often
 * it is registered.
 *
 * @since 0.1.0
 */
public final class IdempotencyFilter implements Filter {

    /** Where the filter belongs: right behind Spring Security, whose filters Spring Boot registers at -100. */
    public static final int DEFAULT_ORDER = -90;

    private static final Set<String> SAFE_METHODS = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

    private final String attribute = IdempotencyFilter.class.getName() + "." + UUID.randomUUID();
    private final IdempotencyEngine engine;
    private final IdempotentMethods methods;
    private final Function<String, Mode> modes;
    private final WebSettings settings;
    private final KeyScopeResolver scopeResolver;
    private final StatusPolicy statusPolicy;
    private final @Nullable FingerprintStrategy fingerprintStrategy;
    private final HandlerLookup handlers;
    private final HeaderKey headerKey;
    private final ReplayableHeaders replayable;
    private final Answers answers;
    private final Supplier<List<HandlerExceptionResolver>> exceptionResolvers;

    private IdempotencyFilter(Builder builder) {
        engine = builder.engine;
        methods = builder.methods;
        modes = builder.modes;
        settings = builder.settings;
        scopeResolver = builder.scopeResolver;
        statusPolicy = builder.statusPolicy;
        fingerprintStrategy = builder.fingerprintStrategy;
        handlers = new HandlerLookup(builder.beanFactory, builder.methods, builder.rules);
        headerKey = new HeaderKey(settings.header());
        replayable = new ReplayableHeaders(settings.replayHeaders());
        answers = new Answers(
                builder.problems == null ? new ProblemWriter(settings, builder.messages) : builder.problems,
                new Replay(settings));
        exceptionResolvers =
                SingletonSupplier.of(() -> HandlerLookup.inOrder(builder.beanFactory, HandlerExceptionResolver.class));
    }

    /**
     * A filter that finds handlers by the {@code HandlerMapping} beans of the application and runs them by the engine. Neither the
     * mappings nor the methods are asked before the first request.
     */
    public static Builder on(IdempotencyEngine engine, IdempotentMethods methods, ListableBeanFactory beanFactory) {
        return new Builder(engine, methods, beanFactory);
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request instanceof HttpServletRequest http
                && response instanceof HttpServletResponse httpResponse
                && !SAFE_METHODS.contains(http.getMethod())) {
            if (http.getDispatcherType() == DispatcherType.ASYNC) {
                resume(http, httpResponse, chain);
                return;
            }
            if (!isNew(http)) {
                chain.doFilter(request, response);
                return;
            }
            IdempotentHandler handler = handlers.find(http);
            if (handler != null) {
                // Once for the request: whoever switches the mode now means the next one.
                switch (modes.apply(handler.operation().name())) {
                    case ENFORCE -> protect(handler, http, httpResponse, chain);
                    case OBSERVE -> observe(handler, http, httpResponse, chain);
                    case OFF -> marked(http, new Unprotected(handler), () -> chain.doFilter(request, response));
                }
                return;
            }
        }
        chain.doFilter(request, response);
    }

    private boolean isNew(HttpServletRequest request) {
        return request.getDispatcherType() == DispatcherType.REQUEST && request.getAttribute(attribute) == null;
    }

    private void resume(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        LeasedRun run = request.getAttribute(attribute) instanceof Exchange exchange ? exchange.leased() : null;
        if (run == null) {
            chain.doFilter(request, response);
        } else {
            run.resume(chain, request, response);
        }
    }

    private void protect(
            IdempotentHandler handler, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        String key;
        Incoming incoming;
        try {
            key = handler.operation().key() == null ? headerKey.read(request) : "";
            if (key == null) {
                requireNoKey(handler);
            }
            incoming = key == null ? null : read(request, key, handler);
        } catch (IdempotencyException refusal) {
            answers.refuse(request, response, refusal);
            return;
        }
        if (key == null) {
            marked(request, new Unprotected(handler), () -> chain.doFilter(request, response));
        } else if (incoming == null) {
            // The dispatcher refuses what it cannot read. If it does not, the gate does.
            chain.doFilter(request, response);
        } else {
            protect(handler, incoming, key, response, chain);
        }
    }

    private void observe(
            IdempotentHandler handler, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        boolean keyed = handler.operation().key() != null || request.getHeader(settings.header()) != null;
        BodyPeek body = keyed ? BodyPeek.into(request, settings.maxRequestSize().toBytes()) : BodyPeek.none(request);
        ObservedRun run = new ObservedRun(handler, engine.observer(), statusPolicy);
        run.begin(() -> observed(handler, request, body, run));
        marked(request, run, () -> run.pass(chain, body.request(), response));
    }

    // As in protect, without the answers.
    private @Nullable Call observed(
            IdempotentHandler handler, HttpServletRequest request, BodyPeek body, ObservedRun run) {
        HttpOperation operation = handler.operation();
        KeyExpression expression = operation.key();
        String key = expression == null ? headerKey.read(request) : "";
        if (key == null) {
            requireNoKey(handler);
            return null;
        }
        String path = HttpScope.canonicalPath(handler.path());
        String scope = expression == null ? scope(request, handler, path) : tenant(handler);
        Fingerprint fingerprint = body.fingerprint(key, operation, fingerprintStrategy, path, handler.path());
        if (expression == null) {
            return new Call(operation.settings(), scope, key, fingerprint);
        }
        run.claimsAtTheGate(new BusinessKey(operation, expression, scope, fingerprint));
        return null;
    }

    private void protect(
            IdempotentHandler handler, Incoming incoming, String key, HttpServletResponse response, FilterChain chain)
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
            marked(
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
            marked(
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
        LeasedRun run = new LeasedRun(exchange, answers, () -> request.removeAttribute(attribute));
        exchange.leased(run);
        request.setAttribute(attribute, exchange);
        return run;
    }

    private @Nullable Incoming read(HttpServletRequest request, String key, IdempotentHandler handler)
            throws IOException {
        String path = HttpScope.canonicalPath(handler.path());
        String scope = handler.operation().key() == null ? scope(request, handler, path) : tenant(handler);
        CachedRequest cached =
                CachedRequest.read(request, settings.maxRequestSize().toBytes());
        return cached == null
                ? null
                : new Incoming(
                        cached,
                        scope,
                        RequestFingerprint.of(
                                cached, key, handler.operation(), fingerprintStrategy, path, handler.path()));
    }

    private static void requireNoKey(IdempotentHandler handler) {
        if (handler.operation().keyRequired()) {
            throw new MissingIdempotencyKeyException(
                    "Operation " + handler.operation().settings().operation() + " requires a key");
        }
    }

    private String scope(HttpServletRequest request, IdempotentHandler handler, String path) {
        OperationSettings operation = handler.operation().settings();
        Principal principal = request.getUserPrincipal();
        String caller = principal == null ? null : principal.getName();
        boolean nameless = principal == null
                ? settings.anonymous() == WebSettings.AnonymousCallers.REFUSE
                : caller == null || caller.isBlank();
        if (nameless) {
            throw unknownCaller(operation);
        }
        String added = tenant(handler);
        return HttpScope.of(caller, added, request.getMethod(), path);
    }

    // Whoever the caller is: a business key means the same for all of a tenant.
    private String tenant(IdempotentHandler handler) {
        OperationSettings operation = handler.operation().settings();
        String tenant = scopeResolver.resolve(operation.operation());
        if (tenant == null) {
            throw unknownCaller(operation);
        }
        return tenant;
    }

    private static UnknownCallerException unknownCaller(OperationSettings operation) {
        return new UnknownCallerException("The caller of operation " + operation.operation()
                + " is not known, so that nobody can tell whose key it is");
    }

    private void marked(HttpServletRequest request, Object mark, Part part) throws IOException, ServletException {
        request.setAttribute(attribute, mark);
        try {
            part.run();
        } finally {
            // A handler may dispatch to itself: it meets the mode in which the request began.
            if (mark instanceof Exchange) {
                request.removeAttribute(attribute);
            }
        }
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
            marked(request, exchange, () -> replay(call, done.completion(), exchange));
        } else if (decision instanceof Decision.Proceed proceed) {
            RunningAttempt attempt = proceed.attempt().orElse(null);
            if (attempt == null) {
                request.allowAsync();
                marked(request, new Unprotected(exchange.handler()), () -> chain.doFilter(request, response));
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

    // At the gate

    @Nullable
    Object enter(MethodInvocation invocation, HttpServletRequest request, Class<?> targetClass) throws Throwable {
        Object mark = request.getAttribute(attribute);
        if (mark instanceof Exchange exchange) {
            if (exchange.isOf(invocation, targetClass)) {
                return exchange.enter(invocation);
            }
            if (exchange.wasReached()) {
                return invocation.proceed();
            }
        } else if (mark instanceof ObservedRun observed && observed.isOf(invocation, targetClass)) {
            return observed.enter(invocation);
        } else if (mark instanceof Unprotected unprotected
                && unprotected.handler().isMethod(invocation.getMethod(), targetClass)) {
            return invocation.proceed();
        }
        if (isEnforced(invocation, targetClass) && isDispatched(invocation, request, targetClass)) {
            handlers.refresh();
            throw new IllegalStateException("The idempotent handler " + targetClass.getName() + "."
                    + invocation.getMethod().getName()
                    + " was reached by a request that the idempotency filter could not see as its request, for example by a forward."
                    + " It was not called, because it would not be protected");
        }
        return invocation.proceed();
    }

    void enterByRule(HttpServletRequest request) {
        if (request.getAttribute(attribute) instanceof Exchange exchange
                && exchange.handler().byRule()) {
            exchange.enterByRule();
        } else if (request.getAttribute(attribute) instanceof ObservedRun observed) {
            observed.enterByRule();
        }
    }

    private boolean isEnforced(MethodInvocation invocation, Class<?> targetClass) {
        IdempotentMethod method = methods.find(invocation.getMethod(), targetClass);
        return method != null && modes.apply(method.settings().operation()) == Mode.ENFORCE;
    }

    // Other calls are made by the application's own code.
    private static boolean isDispatched(MethodInvocation invocation, HttpServletRequest request, Class<?> targetClass) {
        return !SAFE_METHODS.contains(request.getMethod())
                && request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) instanceof HandlerMethod handler
                && IdempotentHandler.isSame(handler, invocation.getMethod(), targetClass);
    }

    /** The mark of a request that needs no key: its handler does not require one, or is switched off. */
    private record Unprotected(IdempotentHandler handler) {}

    /** A request of an idempotent handler, as far as it is known before its arguments. */
    private record Incoming(CachedRequest request, String scope, Fingerprint fingerprint) {}

    /** What the engine does with an exchange. */
    private interface Execution {
        Completion run() throws Throwable;
    }

    /** A part of the handling of a request. */
    private interface Part {
        void run() throws IOException, ServletException;
    }

    /** Collects what a filter needs. */
    public static final class Builder {

        private final IdempotencyEngine engine;
        private final IdempotentMethods methods;
        private final ListableBeanFactory beanFactory;
        private WebSettings settings = WebSettings.defaults();
        private @Nullable ProblemWriter problems;
        private @Nullable MessageSource messages;
        private KeyScopeResolver scopeResolver = operation -> "";
        private StatusPolicy statusPolicy = StatusPolicy.standard();
        private @Nullable FingerprintStrategy fingerprintStrategy;
        private List<PathRule> rules = List.of();
        private Function<String, Mode> modes = operation -> Mode.ENFORCE;

        private Builder(IdempotencyEngine engine, IdempotentMethods methods, ListableBeanFactory beanFactory) {
            this.engine = Objects.requireNonNull(engine);
            this.methods = Objects.requireNonNull(methods);
            this.beanFactory = Objects.requireNonNull(beanFactory);
        }

        public Builder settings(WebSettings settings) {
            this.settings = settings;
            return this;
        }

        /** What words problems in place of the shipped texts, see {@link ProblemWriter}. */
        public Builder messages(MessageSource messages) {
            this.messages = messages;
            return this;
        }

        public Builder scopeResolver(KeyScopeResolver scopeResolver) {
            this.scopeResolver = scopeResolver;
            return this;
        }

        public Builder statusPolicy(StatusPolicy statusPolicy) {
            this.statusPolicy = statusPolicy;
            return this;
        }

        public Builder fingerprintStrategy(FingerprintStrategy fingerprintStrategy) {
            this.fingerprintStrategy = fingerprintStrategy;
            return this;
        }

        /** For handlers without an annotation. They need a {@link RuleGate}; the first rule that fits counts. */
        public Builder rules(List<PathRule> rules) {
            this.rules = List.copyOf(rules);
            return this;
        }

        /** What is done with the requests of an operation now; asked once for each of them. */
        public Builder modes(Function<String, Mode> modes) {
            this.modes = modes;
            return this;
        }

        public IdempotencyFilter build() {
            return new IdempotencyFilter(this);
        }
    }
}
