package io.idempotency.spring.web;

import io.idempotency.Mode;
import io.idempotency.spring.aop.IdempotentMethod;
import io.idempotency.spring.aop.IdempotentMethods;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import java.util.function.Function;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.multipart.MultipartException;
import org.springframework.web.servlet.HandlerMapping;

/** The filter's side of the gate: what happens when a request has reached an idempotent handler. */
final class HandlerGate {

    private final Marks marks;
    private final HandlerLookup handlers;
    private final IdempotentMethods methods;
    private final Function<String, Mode> modes;

    HandlerGate(Marks marks, HandlerLookup handlers, IdempotentMethods methods, Function<String, Mode> modes) {
        this.marks = marks;
        this.handlers = handlers;
        this.methods = methods;
        this.modes = modes;
    }

    @Nullable
    Object enter(MethodInvocation invocation, HttpServletRequest request, Class<?> targetClass) throws Throwable {
        Mark mark = marks.of(request);
        if (mark instanceof Exchange exchange) {
            if (exchange.isOf(invocation, targetClass)) {
                return exchange.enter(invocation);
            }
            if (exchange.wasReached()) {
                return invocation.proceed();
            }
        } else if (mark instanceof ObservedRun observed && observed.isOf(invocation, targetClass)) {
            return observed.enter(invocation);
        } else if (mark instanceof Mark.Unprotected unprotected
                && unprotected.handler().isMethod(invocation.getMethod(), targetClass)) {
            return invocation.proceed();
        }
        if (isEnforced(invocation, targetClass) && isDispatched(invocation, request, targetClass)) {
            handlers.refresh();
            throw unseen("handler " + targetClass.getName() + "."
                    + invocation.getMethod().getName());
        }
        return invocation.proceed();
    }

    void enterByRule(HttpServletRequest request, Object handler) {
        Mark mark = marks.of(request);
        if (mark instanceof Exchange exchange) {
            if (exchange.handler().byRule()) {
                exchange.enterByRule();
            }
        } else if (mark instanceof ObservedRun observed) {
            observed.enterByRule();
        } else if (mark instanceof Mark.Unreadable unreadable) {
            if (unreadable.handler().byRule()) {
                throw new MultipartException(
                        "The parts of the request could not be read, so that it cannot be protected");
            }
        } else if (mark == null && request.getDispatcherType() != DispatcherType.ERROR) {
            PathRule rule = handlers.ruleOf(request, handler);
            if (rule != null && modes.apply(rule.operation().name()) == Mode.ENFORCE) {
                throw unseen("handler of operation " + rule.operation().name());
            }
        }
    }

    private static IllegalStateException unseen(String handler) {
        return new IllegalStateException("The idempotent " + handler
                + " was reached by a request that the idempotency filter could not see as its request, for example by a forward."
                + " It was not called, because it would not be protected");
    }

    private boolean isEnforced(MethodInvocation invocation, Class<?> targetClass) {
        IdempotentMethod method = methods.find(invocation.getMethod(), targetClass);
        return method != null && modes.apply(method.settings().operation()) == Mode.ENFORCE;
    }

    // Other calls are made by the application's own code.
    private static boolean isDispatched(MethodInvocation invocation, HttpServletRequest request, Class<?> targetClass) {
        return !IdempotencyFilter.isSafe(request)
                && request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) instanceof HandlerMethod handler
                && IdempotentHandler.isSame(handler, invocation.getMethod(), targetClass);
    }
}
