package io.idempotency.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/** An object of JDBC whose calls are seen before they are made. */
final class JdbcProxy {

    private JdbcProxy() {}

    static <T> T of(Class<T> type, Handler handler) {
        return type.cast(Proxy.newProxyInstance(
                JdbcProxy.class.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> handler.handle(method, arguments)));
    }

    /** Makes the call, on the real one. */
    static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    interface Handler {

        @Nullable
        Object handle(Method method, Object @Nullable [] arguments) throws Throwable;
    }
}
