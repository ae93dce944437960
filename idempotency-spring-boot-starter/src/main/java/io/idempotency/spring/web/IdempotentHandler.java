package io.idempotency.spring.web;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import org.springframework.aop.support.AopUtils;
import org.springframework.http.server.PathContainer;
import org.springframework.util.ClassUtils;
import org.springframework.web.method.HandlerMethod;

/**
 * The idempotent handler of a request.
 *
 * @param handler as the dispatcher is going to find it
 * @param operation what is configured for it
 * @param byRule whether a rule has made it idempotent, and no annotation
 * @param path of the request below the context path
 */
record IdempotentHandler(Object handler, HttpOperation operation, boolean byRule, PathContainer path) {

    boolean isMethod(Method called, Class<?> targetClass) {
        return !byRule && handler instanceof HandlerMethod method && isSame(method, called, targetClass);
    }

    /** Whether a call of a bean's method is the call of a handler. */
    static boolean isSame(HandlerMethod handler, Method called, Class<?> targetClass) {
        Class<?> userClass = ClassUtils.getUserClass(targetClass);
        // The most specific method is found by its name: only one of the handler's own class is the handler.
        return isClassOf(handler.getBeanType(), userClass)
                && AopUtils.getMostSpecificMethod(called, userClass)
                        .equals(AopUtils.getMostSpecificMethod(handler.getMethod(), userClass));
    }

    // Of a proxy by interfaces no more is known than the interfaces.
    private static boolean isClassOf(Class<?> beanType, Class<?> userClass) {
        if (!Proxy.isProxyClass(beanType)) {
            return ClassUtils.getUserClass(beanType).isAssignableFrom(userClass);
        }
        return Arrays.stream(beanType.getInterfaces())
                .filter(each -> !each.getName().startsWith("org.springframework."))
                .allMatch(each -> each.isAssignableFrom(userClass));
    }
}
