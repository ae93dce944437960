package io.idempotency.spring.web;

import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.Arrays;

/** What a filter chain has thrown. */
final class Failures {

    private static final String SPRING_ASYNC = "org.springframework.web.context.request.async.";

    private Failures() {}

    /** Whether Spring MVC has found that a request does not support asynchronous handling. */
    static boolean isMissingAsyncSupport(Throwable failure) {
        int depth = 0;
        for (Throwable each = failure; each != null && depth < 20; each = each.getCause(), depth++) {
            if (each instanceof IllegalStateException
                    && Arrays.stream(each.getStackTrace())
                            .limit(4)
                            .anyMatch(frame -> frame.getClassName().startsWith(SPRING_ASYNC))) {
                return true;
            }
        }
        return false;
    }

    /** Passes it on. */
    static void rethrow(Throwable failure) throws IOException, ServletException {
        if (failure instanceof IOException io) {
            throw io;
        }
        if (failure instanceof ServletException servlet) {
            throw servlet;
        }
        if (failure instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        if (failure instanceof Error error) {
            throw error;
        }
        throw new ServletException(failure);
    }
}
