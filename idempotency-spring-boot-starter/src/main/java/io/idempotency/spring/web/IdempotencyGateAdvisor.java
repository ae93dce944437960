package io.idempotency.spring.web;

import io.idempotency.spring.aop.IdempotentAnnotations;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.stereotype.Controller;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The gate: around the idempotent handlers of controllers, inside of method security and outside of {@code @Transactional}. It tells
 * the filter that a handler was reached and what it threw, and stops the call if the response is known. To be registered as an
 * infrastructure bean; nothing but annotations is looked at when it is matched with beans.
 *
 * @since 0.1.0
 */
public final class IdempotencyGateAdvisor extends StaticMethodMatcherPointcutAdvisor {

    private static final long serialVersionUID = 1L;

    /** Inside of method security, outside of transactions. */
    public static final int ORDER = LOWEST_PRECEDENCE - 200;

    /**
     * @param filter called with the first request, not before
     */
    @SuppressWarnings("this-escape") // Only setters of the base class, before anybody knows the advisor.
    public IdempotencyGateAdvisor(Supplier<IdempotencyFilter> filter) {
        setAdvice(new Gate(SingletonSupplier.of(filter)));
        setOrder(ORDER);
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return IdempotentAnnotations.isPresent(method, targetClass) && isHandler(method, targetClass);
    }

    private static boolean isHandler(Method method, Class<?> targetClass) {
        return AnnotatedElementUtils.hasAnnotation(ClassUtils.getUserClass(targetClass), Controller.class)
                || AnnotatedElementUtils.hasAnnotation(
                        IdempotentAnnotations.mostSpecific(method, targetClass), RequestMapping.class);
    }

    private record Gate(SingletonSupplier<IdempotencyFilter> filter) implements MethodInterceptor {

        @Override
        public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
            Object target = invocation.getThis();
            if (target == null
                    || !(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes current)) {
                return invocation.proceed();
            }
            return filter.obtain().gate().enter(invocation, current.getRequest(), target.getClass());
        }
    }
}
