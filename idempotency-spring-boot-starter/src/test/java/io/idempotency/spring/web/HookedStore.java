package io.idempotency.spring.web;

import io.idempotency.spi.IdempotencyStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.springframework.util.ClassUtils;

/** Records the calls of a store and makes them fail on demand. */
final class HookedStore {

    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final Map<String, Supplier<? extends RuntimeException>> failures = new ConcurrentHashMap<>();
    private final IdempotencyStore store;

    HookedStore(IdempotencyStore delegate) {
        store = (IdempotencyStore) Proxy.newProxyInstance(
                HookedStore.class.getClassLoader(),
                ClassUtils.getAllInterfaces(delegate),
                (proxy, method, arguments) -> invoke(delegate, method, arguments));
    }

    private Object invoke(IdempotencyStore delegate, Method method, Object[] arguments) throws Throwable {
        calls.add(method.getName());
        Supplier<? extends RuntimeException> failure = failures.get(method.getName());
        if (failure != null) {
            throw failure.get();
        }
        try {
            return method.invoke(delegate, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    IdempotencyStore store() {
        return store;
    }

    /** The calls so far, from now on counted anew. */
    List<String> drain() {
        List<String> drained = List.copyOf(calls);
        calls.clear();
        return drained;
    }

    /** Makes a method fail until the result is closed. */
    AutoCloseable failing(String method, Supplier<? extends RuntimeException> failure) {
        failures.put(method, failure);
        return () -> failures.remove(method);
    }
}
