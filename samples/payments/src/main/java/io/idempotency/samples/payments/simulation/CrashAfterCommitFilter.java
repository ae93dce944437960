package io.idempotency.samples.payments.simulation;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.util.ContentCachingResponseWrapper;

/** Ends the process when everything is committed and the client has not got a byte. It surrounds all other filters. */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
class CrashAfterCommitFilter extends OncePerRequestFilter {

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return !Simulation.asksFor(request, Simulation.CRASH_AFTER_COMMIT);
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        chain.doFilter(request, new ContentCachingResponseWrapper(response));
        Simulation.crash();
    }
}
