package io.idempotency.spring.web;

import io.idempotency.IdempotencyException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers with a problem what an idempotent method behind a handler has refused, where the application itself does not: an order that is
 * still being worked on is no fault of the server.
 *
 * @since 0.1.0
 */
public final class RefusalExceptionResolver implements HandlerExceptionResolver, Ordered {

    private static final Logger log = LoggerFactory.getLogger(RefusalExceptionResolver.class);

    private final ProblemWriter problems;

    public RefusalExceptionResolver(ProblemWriter problems) {
        this.problems = problems;
    }

    /** The last: whatever the application has for these exceptions comes before. */
    @Override
    public int getOrder() {
        return LOWEST_PRECEDENCE;
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception exception) {
        if (!(exception instanceof IdempotencyException refusal) || response.isCommitted()) {
            return null;
        }
        try {
            problems.write(request, response, refusal);
        } catch (IOException e) {
            log.debug("The answer to a refused request could not be sent", e);
        }
        return new ModelAndView();
    }
}
