package io.idempotency.spring.web;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletResponse;

/** Is told when a request is going to be answered on another thread. */
interface AsyncStart {

    /** The response for whoever does not name one. */
    HttpServletResponse response();

    /**
     * @param context of the container
     * @return what the application gets in its place
     */
    AsyncContext started(AsyncContext context);
}
