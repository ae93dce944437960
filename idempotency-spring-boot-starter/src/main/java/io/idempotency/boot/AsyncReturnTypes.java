package io.idempotency.boot;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/** Return types whose work goes on after the method has returned, when its transaction is over. */
final class AsyncReturnTypes {

    private static final List<Class<?>> TYPES = Stream.concat(
                    Stream.of(CompletionStage.class, Future.class, Callable.class, Flow.Publisher.class),
                    Stream.of(
                                    "org.reactivestreams.Publisher",
                                    "org.springframework.web.context.request.async.DeferredResult",
                                    "org.springframework.web.context.request.async.WebAsyncTask",
                                    "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
                                    "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody")
                            .map(AsyncReturnTypes::present)
                            .filter(Objects::nonNull))
            .<Class<?>>map(Objects::requireNonNull)
            .toList();

    private static final @Nullable Class<?> RESPONSE = present("org.springframework.http.HttpEntity");

    private AsyncReturnTypes() {}

    private static @Nullable Class<?> present(String name) {
        try {
            return ClassUtils.forName(name, AsyncReturnTypes.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            return null;
        }
    }

    static boolean isReturnedBy(Method method) {
        return isAny(ResolvableType.forMethodReturnType(method));
    }

    private static boolean isAny(ResolvableType returned) {
        Class<?> type = returned.toClass();
        if (RESPONSE != null && RESPONSE.isAssignableFrom(type)) {
            return isAny(returned.as(RESPONSE).getGeneric());
        }
        return TYPES.stream().anyMatch(each -> each.isAssignableFrom(type))
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }
}
