package io.idempotency.spring.web;

import io.idempotency.IdempotencyException;
import io.idempotency.Mode;
import io.idempotency.engine.Call;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.FingerprintStrategy;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.spring.aop.KeyExpression;
import io.idempotency.spring.web.IncomingReader.Incoming;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.context.MessageSource;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.servlet.HandlerExceptionResolver;

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

    private final IdempotencyEngine engine;
    private final Function<String, Mode> modes;
    private final WebSettings settings;
    private final StatusPolicy statusPolicy;
    private final HandlerLookup handlers;
    private final IncomingReader reader;
    private final Answers answers;
    private final Marks marks = new Marks();
    private final ProtectedRuns runs;
    private final HandlerGate gate;

    private IdempotencyFilter(Builder builder) {
        engine = builder.engine;
        modes = builder.modes;
        settings = builder.settings;
        statusPolicy = builder.statusPolicy;
        handlers = new HandlerLookup(builder.beanFactory, builder.methods, builder.rules);
        reader = new IncomingReader(settings, builder.scopeResolver, builder.fingerprintStrategy);
        answers = new Answers(
                builder.problems == null ? new ProblemWriter(settings, builder.messages) : builder.problems,
                new Replay(settings));
        runs = new ProtectedRuns(
                engine,
                marks,
                settings,
                statusPolicy,
                answers,
                SingletonSupplier.of(() -> HandlerLookup.inOrder(builder.beanFactory, HandlerExceptionResolver.class)));
        gate = new HandlerGate(marks, handlers, builder.methods, modes);
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
                && !isSafe(http)) {
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
                    case OFF ->
                        marks.during(http, new Mark.Unprotected(handler), () -> chain.doFilter(request, response));
                }
                return;
            }
        }
        chain.doFilter(request, response);
    }

    static boolean isSafe(HttpServletRequest request) {
        return SAFE_METHODS.contains(request.getMethod());
    }

    HandlerGate gate() {
        return gate;
    }

    private boolean isNew(HttpServletRequest request) {
        return request.getDispatcherType() == DispatcherType.REQUEST && marks.of(request) == null;
    }

    private void resume(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        LeasedRun run = marks.of(request) instanceof Exchange exchange ? exchange.leased() : null;
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
            key = reader.key(request, handler);
            incoming = key == null ? null : reader.read(request, key, handler);
        } catch (IdempotencyException refusal) {
            answers.refuse(request, response, refusal);
            return;
        }
        if (key == null) {
            marks.during(request, new Mark.Unprotected(handler), () -> chain.doFilter(request, response));
        } else if (incoming == null) {
            // The dispatcher refuses what it cannot read. If it does not, the gate does.
            marks.during(request, new Mark.Unreadable(handler), () -> chain.doFilter(request, response));
        } else {
            runs.run(handler, incoming, key, response, chain);
        }
    }

    private void observe(
            IdempotentHandler handler, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        boolean keyed = handler.operation().key() != null || request.getHeader(settings.header()) != null;
        BodyPeek body = keyed ? BodyPeek.into(request, settings.maxRequestSize().toBytes()) : BodyPeek.none(request);
        ObservedRun run = new ObservedRun(handler, engine.observer(), statusPolicy);
        run.begin(() -> observed(handler, request, body, run));
        marks.during(request, run, () -> run.pass(chain, body.request(), response));
    }

    // As in protect, without the answers.
    private @Nullable Call observed(
            IdempotentHandler handler, HttpServletRequest request, BodyPeek body, ObservedRun run) {
        HttpOperation operation = handler.operation();
        String key = reader.key(request, handler);
        if (key == null) {
            return null;
        }
        String path = HttpScope.canonicalPath(handler.path());
        String scope = reader.scope(request, handler, path);
        Fingerprint fingerprint = reader.fingerprint(body, key, handler, path);
        KeyExpression expression = operation.key();
        if (expression == null) {
            return new Call(operation.settings(), scope, key, fingerprint);
        }
        run.claimsAtTheGate(new BusinessKey(operation, expression, scope, fingerprint));
        return null;
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
