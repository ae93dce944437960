package io.idempotency.spring.web;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.io.IOException;

/** What the application sees of an asynchronous request: completing it records and sends the response first. */
final class HeldAsyncContext implements AsyncContext {

    private final AsyncContext context;
    private final LeasedRun run;

    HeldAsyncContext(AsyncContext context, LeasedRun run) {
        this.context = context;
        this.run = run;
    }

    @Override
    public void complete() {
        run.complete(context);
    }

    @Override
    public void start(Runnable task) {
        context.start(run.bound(task));
    }

    @Override
    public void addListener(AsyncListener listener) {
        context.addListener(new HeldListener(listener));
    }

    @Override
    public void addListener(AsyncListener listener, ServletRequest request, ServletResponse response) {
        context.addListener(new HeldListener(listener), request, response);
    }

    @Override
    public ServletRequest getRequest() {
        return context.getRequest();
    }

    @Override
    public ServletResponse getResponse() {
        return context.getResponse();
    }

    @Override
    public boolean hasOriginalRequestAndResponse() {
        return context.hasOriginalRequestAndResponse();
    }

    @Override
    public void dispatch() {
        context.dispatch();
    }

    @Override
    public void dispatch(String path) {
        context.dispatch(path);
    }

    @Override
    public void dispatch(ServletContext servletContext, String path) {
        context.dispatch(servletContext, path);
    }

    @Override
    public <T extends AsyncListener> T createListener(Class<T> type) throws ServletException {
        return context.createListener(type);
    }

    @Override
    public void setTimeout(long timeout) {
        context.setTimeout(timeout);
    }

    @Override
    public long getTimeout() {
        return context.getTimeout();
    }

    /** Hides the container's context from the application's listeners, which complete what an event gives them. */
    private final class HeldListener implements AsyncListener {

        private final AsyncListener listener;

        HeldListener(AsyncListener listener) {
            this.listener = listener;
        }

        private AsyncEvent held(AsyncEvent event) {
            return new AsyncEvent(
                    HeldAsyncContext.this,
                    event.getSuppliedRequest(),
                    event.getSuppliedResponse(),
                    event.getThrowable());
        }

        @Override
        public void onComplete(AsyncEvent event) throws IOException {
            listener.onComplete(held(event));
        }

        @Override
        public void onTimeout(AsyncEvent event) throws IOException {
            listener.onTimeout(held(event));
        }

        @Override
        public void onError(AsyncEvent event) throws IOException {
            listener.onError(held(event));
        }

        @Override
        public void onStartAsync(AsyncEvent event) throws IOException {
            listener.onStartAsync(held(event));
        }
    }
}
