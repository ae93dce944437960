package io.idempotency.spring.aop;

import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.util.function.SingletonSupplier;

/**
 * Puts the door around annotated bean methods: inside of method security and validation, outside of {@code @Transactional},
 * {@code @Cacheable} and Spring Retry's {@code @Retryable}. To be registered as an infrastructure bean; nothing but annotations is
 * looked at when it is matched with beans.
 *
 * @since 0.1.0
 */
public final class IdempotentMethodAdvisor extends StaticMethodMatcherPointcutAdvisor {

    private static final long serialVersionUID = 1L;

    /** Inside of method security, outside of transactions. */
    public static final int ORDER = LOWEST_PRECEDENCE - 200;

    /**
     * @param door called with the first call, not before
     */
    @SuppressWarnings("this-escape") // Only setters of the base class, before anybody knows the advisor.
    public IdempotentMethodAdvisor(Supplier<MethodDoor> door) {
        setAdvice(new LateDoor(SingletonSupplier.of(door)));
        setOrder(ORDER);
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return method.getDeclaringClass() != Object.class && IdempotentAnnotations.isPresent(method, targetClass);
    }

    private record LateDoor(SingletonSupplier<MethodDoor> door) implements MethodInterceptor {

        @Override
        public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
            return door.obtain().invoke(invocation);
        }
    }
}
