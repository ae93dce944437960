package io.idempotency.spring.web;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.jspecify.annotations.Nullable;

/** A response to whose status and headers changes are without effect once it counts as committed. */
abstract class CommitAwareResponse extends HttpServletResponseWrapper {

    private final String replayedHeader;

    CommitAwareResponse(HttpServletResponse response, String replayedHeader) {
        super(response);
        this.replayedHeader = replayedHeader;
    }

    @Override
    public void setStatus(int newStatus) {
        if (!isCommitted()) {
            super.setStatus(newStatus);
        }
    }

    @Override
    public void setHeader(String name, @Nullable String value) {
        if (name.equalsIgnoreCase("Content-Type")) {
            setContentType(value);
        } else if (mayChange(name)) {
            super.setHeader(name, value);
        }
    }

    @Override
    public void addHeader(String name, @Nullable String value) {
        if (name.equalsIgnoreCase("Content-Type")) {
            setContentType(value);
        } else if (mayChange(name)) {
            super.addHeader(name, value);
        }
    }

    @Override
    public void setIntHeader(String name, int value) {
        if (mayChange(name)) {
            super.setIntHeader(name, value);
        }
    }

    @Override
    public void addIntHeader(String name, int value) {
        if (mayChange(name)) {
            super.addIntHeader(name, value);
        }
    }

    @Override
    public void setDateHeader(String name, long date) {
        if (mayChange(name)) {
            super.setDateHeader(name, date);
        }
    }

    @Override
    public void addDateHeader(String name, long date) {
        if (mayChange(name)) {
            super.addDateHeader(name, date);
        }
    }

    // A handler cannot make its first answer look like a replay.
    private boolean mayChange(String name) {
        return !isCommitted() && !replayedHeader.equalsIgnoreCase(name);
    }

    @Override
    public void addCookie(Cookie cookie) {
        if (!isCommitted()) {
            super.addCookie(cookie);
        }
    }

    @Override
    public void setContentLength(int length) {
        if (!isCommitted()) {
            super.setContentLength(length);
        }
    }

    @Override
    public void setContentLengthLong(long length) {
        if (!isCommitted()) {
            super.setContentLengthLong(length);
        }
    }
}
