package io.idempotency.spring.web;

import io.idempotency.IdempotencyContext;
import io.idempotency.engine.Call;
import io.idempotency.engine.Observation;
import io.idempotency.engine.Observer;
import io.idempotency.spi.OutcomePolicy.Disposition;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A request that runs unprotected while it is found out what would have become of it. Neither it nor its response is held back. */
final class ObservedRun implements Mark {

    private static final Logger log = LoggerFactory.getLogger(ObservedRun.class);

    private final IdempotentHandler handler;
    private final Observer observer;
    private final StatusPolicy statusPolicy;
    private final AtomicBoolean ended = new AtomicBoolean();
    private volatile Observation observation = Observation.NONE;
    private volatile boolean reached;
    private volatile boolean asynchronous;
    private volatile @Nullable Throwable thrown;
    private @Nullable BusinessKey businessKey;

    ObservedRun(IdempotentHandler handler, Observer observer, StatusPolicy statusPolicy) {
        this.handler = handler;
        this.observer = observer;
        this.statusPolicy = statusPolicy;
    }

    void begin(Supplier<@Nullable Call> call) {
        observation = observer.begin(handler.operation().name(), call);
    }

    void claimsAtTheGate(BusinessKey key) {
        businessKey = key;
    }

    boolean isOf(MethodInvocation invocation, Class<?> targetClass) {
        return handler.isMethod(invocation.getMethod(), targetClass);
    }

    @Nullable
    Object enter(MethodInvocation invocation) throws Throwable {
        if (reached) {
            return invocation.proceed();
        }
        reached = true;
        BusinessKey key = businessKey;
        if (key != null) {
            begin(() -> key.callOf(invocation.getArguments()));
        }
        try (IdempotencyContext.Scope ignored = observation.bind()) {
            return invocation.proceed();
        } catch (Throwable failure) {
            thrown = failure;
            throw failure;
        }
    }

    void enterByRule() {
        reached |= handler.byRule();
    }

    /** Goes through the chain. An asynchronous request ends later. */
    void pass(FilterChain chain, HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        try {
            chain.doFilter(new Watched(request, new End(response)), response);
        } catch (Throwable failure) {
            end(500);
            throw failure;
        }
        if (!asynchronous) {
            end(response.getStatus());
        }
    }

    private void end(int status) {
        if (!ended.compareAndSet(false, true)) {
            return;
        }
        Throwable failure = thrown;
        Disposition byStatus = byStatus(status);
        if (!reached) {
            observation.ended(Disposition.RELEASE);
        } else if (failure == null) {
            observation.ended(byStatus);
        } else {
            observation.threw(failure, byStatus);
        }
    }

    private Disposition byStatus(int status) {
        try {
            return statusPolicy.onStatus(status, handler.operation().settings().guarantee());
        } catch (RuntimeException e) {
            log.warn("The status policy threw", e);
            return Disposition.UNDECIDED;
        }
    }

    /** Listens from the start: the end may come before the handler has returned. */
    private final class Watched extends HttpServletRequestWrapper {

        private final End end;

        private Watched(HttpServletRequest request, End end) {
            super(request);
            this.end = end;
        }

        @Override
        public AsyncContext startAsync() {
            return watched(super.startAsync());
        }

        @Override
        public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
            return watched(super.startAsync(request, response));
        }

        private AsyncContext watched(AsyncContext context) {
            asynchronous = true;
            context.addListener(end);
            return context;
        }
    }

    /** Hears how an asynchronous request ends. */
    private final class End implements AsyncListener {

        private final HttpServletResponse response;

        private End(HttpServletResponse response) {
            this.response = response;
        }

        @Override
        public void onComplete(AsyncEvent event) {
            end(response.getStatus());
        }

        @Override
        public void onTimeout(AsyncEvent event) {}

        @Override
        public void onError(AsyncEvent event) {}

        @Override
        public void onStartAsync(AsyncEvent event) {
            event.getAsyncContext().addListener(this);
        }
    }
}
