package io.idempotency.spring.web;

import io.idempotency.IdempotencyException;
import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.ResultUnreadableException;
import io.idempotency.UnknownCallerException;
import io.idempotency.engine.Call;
import io.idempotency.engine.Completion;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.OperationSettings;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.StoredResult.Kind;
import io.idempotency.spring.aop.IdempotentMethods;
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
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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

    private static final Logger log = LoggerFactory.getLogger(IdempotencyFilter.class);

    private static final Set<String> SAFE_METHODS = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

    private final String attribute = IdempotencyFilter.class.getName() + "." + UUID.randomUUID();
    private final IdempotencyEngine engine;
    private final WebSettings settings;
    private final ProblemWriter problems;
    private final KeyScopeResolver scopeResolver;
    private final StatusPolicy statusPolicy;
    private final HandlerLookup handlers;
    private final HeaderKey headerKey;
    private final ReplayableHeaders replayable;
    private final Replay replay;
    private final Supplier<List<HandlerExceptionResolver>> exceptionResolvers;

    private IdempotencyFilter(Builder builder) {
        engine = builder.engine;
        settings = builder.settings;
        problems = builder.problems == null ? new ProblemWriter(settings, builder.messages) : builder.problems;
        scopeResolver = builder.scopeResolver;
        statusPolicy = builder.statusPolicy;
        handlers = new HandlerLookup(builder.beanFactory, builder.methods);
        headerKey = new HeaderKey(settings.header());
        replayable = new ReplayableHeaders(settings.replayHeaders());
        replay = new Replay(settings);
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
                && concerns(http)) {
            IdempotentHandler handler = handlers.find(http);
            if (handler != null) {
                protect(handler, http, httpResponse, chain);
                return;
            }
        }
        chain.doFilter(request, response);
    }

    private boolean concerns(HttpServletRequest request) {
        return request.getDispatcherType() == DispatcherType.REQUEST
                && !SAFE_METHODS.contains(request.getMethod())
                && request.getAttribute(attribute) == null;
    }

    private void protect(
            IdempotentHandler handler, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        CachedRequest cached;
        Call call;
        try {
            String key = headerKey.read(request);
            if (key == null) {
                requireNoKey(handler);
                marked(request, new Unprotected(handler), () -> chain.doFilter(request, response));
                return;
            }
            String path = HttpScope.canonicalPath(handler.path());
            String scope = scope(request, handler, path);
            cached = CachedRequest.read(request, settings.maxRequestSize().toBytes());
            if (cached == null) {
                // The dispatcher refuses what it cannot read. If it does not, the gate does.
                chain.doFilter(request, response);
                return;
            }
            Fingerprint fingerprint =
                    RequestFingerprint.of(cached, handler.method().fingerprintScheme(), path, handler.path());
            call = new Call(handler.method().settings(), scope, key, fingerprint);
        } catch (IdempotencyException refusal) {
            refuse(request, response, refusal);
            return;
        }
        try (BufferedResponse buffered = new BufferedResponse(response, settings)) {
            Exchange exchange = new Exchange(handler, cached, buffered, chain, replayable, statusPolicy);
            marked(request, exchange, () -> execute(call, exchange));
        }
    }

    private static void requireNoKey(IdempotentHandler handler) {
        if (handler.method().keyRequired()) {
            throw new MissingIdempotencyKeyException(
                    "Operation " + handler.method().settings().operation() + " requires a key");
        }
    }

    private String scope(HttpServletRequest request, IdempotentHandler handler, String path) {
        OperationSettings operation = handler.method().settings();
        Principal principal = request.getUserPrincipal();
        String caller = principal == null ? null : principal.getName();
        boolean nameless = principal == null
                ? settings.anonymous() == WebSettings.AnonymousCallers.REFUSE
                : caller == null || caller.isBlank();
        String added = nameless ? null : scopeResolver.resolve(operation.operation());
        if (added == null) {
            throw new UnknownCallerException("The caller of operation " + operation.operation()
                    + " is not known, so that nobody can tell whose key it is");
        }
        return HttpScope.of(caller, added, request.getMethod(), path);
    }

    private void refuse(HttpServletRequest request, HttpServletResponse response, IdempotencyException refusal)
            throws IOException {
        log.debug("Refused: {}", refusal.code().code(), refusal);
        problems.write(request, response, refusal);
    }

    private void marked(HttpServletRequest request, Object mark, Part part) throws IOException, ServletException {
        request.setAttribute(attribute, mark);
        try {
            part.run();
        } finally {
            request.removeAttribute(attribute);
        }
    }

    private void execute(Call call, Exchange exchange) throws IOException, ServletException {
        Completion completion;
        try {
            completion = engine.execute(call, exchange::run);
        } catch (Throwable thrown) {
            afterFailure(exchange, thrown);
            return;
        }
        if (completion instanceof Completion.Executed executed) {
            exchange.send(executed, problems);
        } else if (completion instanceof Completion.Replayed replayed) {
            if (exchange.passesForReplay()) {
                replay(call, replayed.result(), exchange);
            }
        } else {
            throw new IllegalStateException("Unknown completion " + completion);
        }
    }

    // The engine's own failures: the work keeps what it throws for itself.
    private void afterFailure(Exchange exchange, Throwable thrown) throws IOException, ServletException {
        if (exchange.isAnsweredWithoutRecord()) {
            Throwable failure = exchange.failure();
            if (failure != null) {
                failure.addSuppressed(thrown);
            } else {
                log.warn("The key of a call whose result is not stored could not be freed", thrown);
            }
            exchange.send(new Completion.Executed(false, true), problems);
            return;
        }
        exchange.discard();
        if (thrown instanceof IdempotencyException refusal) {
            refuse(exchange.request(), exchange.real(), refusal);
        } else if (!exchange.letApplicationAnswer(thrown, exceptionResolvers.get())) {
            Failures.rethrow(thrown);
        }
    }

    private void replay(Call call, StoredResult result, Exchange exchange) throws IOException {
        StoredResponse stored;
        try {
            stored = result.kind() == Kind.NOT_REPLAYABLE && !result.format().equals(StoredResponse.FORMAT)
                    ? null
                    : StoredResponse.read(result);
        } catch (IllegalArgumentException e) {
            log.error(
                    "The stored response of operation {} ({}) cannot be read: {}",
                    call.settings().operation(),
                    call.id(),
                    e.getMessage());
            refuse(
                    exchange.request(),
                    exchange.real(),
                    new ResultUnreadableException("The stored response cannot be read: " + e.getMessage(), e));
            return;
        }
        if (stored == null || result.kind() == Kind.NOT_REPLAYABLE) {
            problems.writeNotReplayable(exchange.request(), exchange.real(), stored);
        } else {
            replay.send(stored, exchange.request(), exchange.real());
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
        } else if (mark instanceof Unprotected unprotected
                && unprotected.handler().isMethod(invocation.getMethod(), targetClass)) {
            return invocation.proceed();
        }
        if (isDispatched(invocation, request, targetClass)) {
            handlers.refresh();
            throw new IllegalStateException("The idempotent handler " + targetClass.getName() + "."
                    + invocation.getMethod().getName()
                    + " was reached by a request that the idempotency filter could not see as its request, for example by a forward."
                    + " It was not called, because it would not be protected");
        }
        return invocation.proceed();
    }

    // Other calls are made by the application's own code.
    private static boolean isDispatched(MethodInvocation invocation, HttpServletRequest request, Class<?> targetClass) {
        return !SAFE_METHODS.contains(request.getMethod())
                && request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) instanceof HandlerMethod handler
                && IdempotentHandler.isSame(handler, invocation.getMethod(), targetClass);
    }

    /** The mark of a request without a key whose handler does not require one. */
    private record Unprotected(IdempotentHandler handler) {}

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

        public IdempotencyFilter build() {
            return new IdempotencyFilter(this);
        }
    }
}
