package io.idempotency.spring.web;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Where one filter keeps the marks of its requests. */
final class Marks {

    private final String attribute = IdempotencyFilter.class.getName() + "." + UUID.randomUUID();

    @Nullable
    Mark of(HttpServletRequest request) {
        return (Mark) request.getAttribute(attribute);
    }

    void set(HttpServletRequest request, Mark mark) {
        request.setAttribute(attribute, mark);
    }

    void remove(HttpServletRequest request) {
        request.removeAttribute(attribute);
    }

    void during(HttpServletRequest request, Mark mark, Part part) throws IOException, ServletException {
        set(request, mark);
        try {
            part.run();
        } finally {
            // A handler may dispatch to itself: it meets the mode in which the request began.
            if (mark instanceof Exchange) {
                remove(request);
            }
        }
    }

    /** A part of the handling of a request. */
    interface Part {
        void run() throws IOException, ServletException;
    }
}
