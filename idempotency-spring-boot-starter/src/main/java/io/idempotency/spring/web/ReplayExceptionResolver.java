package io.idempotency.spring.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Ends the handling of a request whose handler the gate has stopped, before any advice of the application sees the exception that
 * stopped it; and lets the policy judge what a handler without a gate of its own has thrown. To be registered as a bean.
 *
 * @since 0.1.0
 */
public final class ReplayExceptionResolver implements HandlerExceptionResolver, Ordered {

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception exception) {
        if (exception == ReplaySignal.INSTANCE) {
            return new ModelAndView();
        }
        Exchange.noteFailure(request, exception);
        return null;
    }
}
