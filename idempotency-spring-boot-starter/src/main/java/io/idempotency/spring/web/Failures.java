package io.idempotency.spring.web;

import jakarta.servlet.ServletException;
import java.io.IOException;

/** Passes on what a filter chain has thrown. */
final class Failures {

    private Failures() {}

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
