package io.idempotency.spring.web;

import io.idempotency.IdempotencyContext;
import io.idempotency.engine.RunningAttempt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.async.CallableProcessingInterceptor;
import org.springframework.web.context.request.async.WebAsyncUtils;

/** Lets a {@link Callable} that a handler returns know its attempt on the thread on which Spring MVC runs it. */
final class BoundCallable implements CallableProcessingInterceptor {

    private final RunningAttempt attempt;
    private IdempotencyContext.@Nullable Scope scope;

    private BoundCallable(RunningAttempt attempt) {
        this.attempt = attempt;
    }

    static void in(CachedRequest request, RunningAttempt attempt) {
        WebAsyncUtils.getAsyncManager(request)
                .registerCallableInterceptor(BoundCallable.class, new BoundCallable(attempt));
    }

    @Override
    public <T> void preProcess(NativeWebRequest request, Callable<T> task) {
        scope = attempt.bind();
    }

    @Override
    public <T> void postProcess(NativeWebRequest request, Callable<T> task, @Nullable Object result) {
        if (scope != null) {
            scope.close();
        }
    }
}
