package io.idempotency.spring.web;

import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/** Passes every call on to a container's response, and is not of its class. */
final class Disguise {

    private Disguise() {}

    /** Whether it is Tomcat's. */
    static boolean isFor(ServletResponse response) {
        ServletResponse innermost = response;
        while (innermost instanceof ServletResponseWrapper wrapper) {
            innermost = wrapper.getResponse();
        }
        return innermost.getClass().getName().startsWith("org.apache.catalina.");
    }

    static HttpServletResponse of(HttpServletResponse real) {
        return (HttpServletResponse) Proxy.newProxyInstance(
                HttpServletResponse.class.getClassLoader(),
                new Class<?>[] {HttpServletResponse.class},
                (proxy, method, arguments) -> invoke(real, method, arguments));
    }

    private static @Nullable Object invoke(
            HttpServletResponse real, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(real, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }
}
