package io.idempotency.spring.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.function.Supplier;
import org.springframework.beans.factory.config.InstantiationAwareBeanPostProcessor;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.handler.AbstractHandlerMapping;

/**
 * The gate of handlers that are idempotent by a {@link PathRule}: the last interceptor of every handler mapping. To be registered as a
 * bean where there are rules.
 *
 * @since 0.1.0
 */
public final class RuleGate implements InstantiationAwareBeanPostProcessor {

    private final SingletonSupplier<IdempotencyFilter> filter;

    /**
     * @param filter called with the first request, not before
     */
    public RuleGate(Supplier<IdempotencyFilter> filter) {
        this.filter = SingletonSupplier.of(filter);
    }

    // A mapping has the interceptors of the application by now and has not looked for others yet.
    @Override
    public boolean postProcessAfterInstantiation(Object bean, String beanName) {
        if (bean instanceof AbstractHandlerMapping mapping) {
            mapping.setInterceptors(new Interceptor());
        }
        return true;
    }

    private final class Interceptor implements HandlerInterceptor {

        @Override
        public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
            filter.obtain().gate().enterByRule(request, handler);
            return true;
        }
    }
}
