package io.idempotency.spring.web;

import io.idempotency.Guarantee;
import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.http.HttpEntity;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/** Knows whose response does not end on the thread of the request, or does not end before it is sent: no transaction lasts so long. */
final class HandlerTypes {

    private static final String ASYNCHRONOUS = "answers asynchronously";
    private static final String STREAMING = "streams its response";

    private HandlerTypes() {}

    /** Completes "because the method ..."; null if the guarantee can be kept. */
    static @Nullable String whyNotHere(Method method, Class<?> beanType, Guarantee guarantee) {
        if (isSuspending(method)) {
            return "is a suspending function";
        }
        if (guarantee != Guarantee.EXACTLY_ONCE) {
            return null;
        }
        ResolvableType returned = ResolvableType.forMethodReturnType(method, ClassUtils.getUserClass(beanType));
        String reason = why(returned);
        return reason == null ? null : reason + " (it returns " + returned + ")";
    }

    private static boolean isSuspending(Method method) {
        Class<?>[] types = method.getParameterTypes();
        return types.length > 0 && types[types.length - 1].getName().equals("kotlin.coroutines.Continuation");
    }

    private static @Nullable String why(ResolvableType returned) {
        Class<?> type = returned.toClass();
        if (HttpEntity.class.isAssignableFrom(type)) {
            return why(returned.as(HttpEntity.class).getGeneric());
        }
        if (isAny(
                type, Callable.class, WebAsyncTask.class, DeferredResult.class, CompletionStage.class, Future.class)) {
            return ASYNCHRONOUS;
        }
        if (isAny(type, ResponseBodyEmitter.class, StreamingResponseBody.class)) {
            return STREAMING;
        }
        return isReactive(type) ? "answers reactively" : null;
    }

    private static boolean isReactive(Class<?> type) {
        return Flow.Publisher.class.isAssignableFrom(type)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null
                || ClassUtils.getAllInterfacesForClassAsSet(type).stream()
                        .anyMatch(each -> each.getName().equals("org.reactivestreams.Publisher"));
    }

    private static boolean isAny(Class<?> type, Class<?>... refused) {
        for (Class<?> each : refused) {
            if (each.isAssignableFrom(type)) {
                return true;
            }
        }
        return false;
    }
}
