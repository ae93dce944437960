package io.idempotency.spring.web;

import io.idempotency.spring.web.StoredResponse.Form;
import io.idempotency.spring.web.StoredResponse.Header;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A response whose body is held back; where a {@link Passage} lets it, only up to a limit and not for a stream. Status and headers go
 * to the real response at once, because only the container knows what they do to each other; nothing that would commit it does. To the
 * handler it behaves like the real one: after a flush, an error, a redirect or the end of the body it counts as committed, so that
 * later changes are without effect.
 */
final class BufferedResponse extends CommitAwareResponse implements AutoCloseable {

    private static final Pattern CHARSET =
            Pattern.compile(";\\s*charset\\s*=\\s*(\"[^\"]*\"|[^;]*)", Pattern.CASE_INSENSITIVE);

    private static final Set<String> CONTENT =
            Set.of("Content-Encoding", "Content-Language", "Content-Range", "Content-Disposition");

    private final HttpServletResponse real;
    private final EarlierHeaders earlier;
    private final HeldBody body;
    private @Nullable HttpServletResponse disguised;
    private @Nullable ServletOutputStream stream;
    private @Nullable PrintWriter writer;
    private @Nullable String encoding;
    private Form form = Form.PLAIN;
    private int status;
    private @Nullable String text;
    private @Nullable String language;

    BufferedResponse(HttpServletResponse response, WebSettings settings) {
        super(response, settings.replayedHeader());
        real = response;
        earlier = new EarlierHeaders(response);
        body = new HeldBody(
                response,
                new BodyBuffer(
                        settings.maxResponseSize().toBytes(),
                        settings.maxSpillSize().toBytes()));
    }

    /** The response that goes to the client. Only for the filter. */
    HttpServletResponse real() {
        return real;
    }

    // After a forward, Tomcat 11 looks through all wrappers for its own response and ends it, whatever a wrapper holds
    // back (suspendWrappedResponseAfterForward). It must not find it here. Jetty has to find its own for an include.
    @Override
    public ServletResponse getResponse() {
        ServletResponse wrapped = super.getResponse();
        if (wrapped != real || !Disguise.isFor(real)) {
            return wrapped;
        }
        if (disguised == null) {
            disguised = Disguise.of(real);
        }
        return disguised;
    }

    // What the handler does

    @Override
    public ServletOutputStream getOutputStream() {
        if (writer != null) {
            throw new IllegalStateException("getWriter() has already been called for this response");
        }
        if (stream == null) {
            stream = body.newStream();
        }
        return stream;
    }

    @Override
    public PrintWriter getWriter() throws IOException {
        if (stream != null) {
            throw new IllegalStateException("getOutputStream() has already been called for this response");
        }
        if (writer == null) {
            String settled = getCharacterEncoding();
            Writer encoder = body.newWriter(settled);
            // As a container does it: from now on the encoding is part of the content type.
            if (!namesCharset(getContentType())) {
                super.setCharacterEncoding(settled);
            }
            encoding = settled;
            writer = new PrintWriter(encoder);
        }
        return writer;
    }

    @Override
    public void setCharacterEncoding(@Nullable String encoding) {
        if (!isCommitted() && writer == null) {
            super.setCharacterEncoding(encoding);
        }
    }

    /** Overrides what the servlet API has from 6.1 on; its wrapper would call the real response. */
    public void setCharacterEncoding(@Nullable Charset encoding) {
        setCharacterEncoding(encoding == null ? null : encoding.name());
    }

    @Override
    public void setContentType(@Nullable String type) {
        if (isCommitted()) {
            return;
        }
        if (encoding == null) {
            super.setContentType(type);
            return;
        }
        super.setContentType(withoutCharset(type));
        super.setCharacterEncoding(encoding);
    }

    private static boolean namesCharset(@Nullable String type) {
        return type != null && CHARSET.matcher(type).find();
    }

    private static @Nullable String withoutCharset(@Nullable String type) {
        return type == null ? null : CHARSET.matcher(type).replaceAll("");
    }

    @Override
    public void setLocale(@Nullable Locale locale) {
        if (!isCommitted()) {
            super.setLocale(locale);
            language = locale == null ? null : locale.toLanguageTag();
        }
    }

    @Override
    public int getStatus() {
        return form == Form.PLAIN ? super.getStatus() : status;
    }

    @Override
    public void setBufferSize(int size) {
        if (isCommitted() || !body.isEmpty()) {
            throw new IllegalStateException("The buffer cannot be changed after something was written");
        }
        super.setBufferSize(size);
    }

    @Override
    public boolean isCommitted() {
        return body.isCommitted() || super.isCommitted();
    }

    @Override
    public void flushBuffer() throws IOException {
        body.flush();
    }

    @Override
    public void resetBuffer() {
        requireUncommitted("resetBuffer");
        body.clear();
    }

    @Override
    public void reset() {
        requireUncommitted("reset");
        super.reset();
        body.clear();
        forgetStreams();
        language = null;
    }

    @Override
    public void sendError(int errorStatus, @Nullable String message) {
        requireUncommitted("sendError");
        body.clear();
        end(Form.ERROR, errorStatus, message);
    }

    @Override
    public void sendError(int errorStatus) {
        sendError(errorStatus, null);
    }

    @Override
    public void sendRedirect(String location) {
        requireUncommitted("sendRedirect");
        body.clear();
        end(Form.REDIRECT, SC_FOUND, location);
    }

    // The next three override what the servlet API has from 6.1 on. Without them the wrapper of that version would
    // call the real response.

    /** Redirects with another status. */
    public void sendRedirect(String location, int redirectStatus) {
        sendRedirect(location, redirectStatus, true);
    }

    /** Redirects and leaves the body. */
    public void sendRedirect(String location, boolean clearBuffer) {
        sendRedirect(location, SC_FOUND, clearBuffer);
    }

    /** Redirects with another status and may leave the body. */
    public void sendRedirect(String location, int redirectStatus, boolean clearBuffer) {
        if (clearBuffer && redirectStatus == SC_FOUND) {
            sendRedirect(location);
            return;
        }
        requireUncommitted("sendRedirect");
        if (clearBuffer) {
            body.clear();
        }
        super.setStatus(redirectStatus);
        super.setHeader("Location", location);
        body.end();
    }

    private void requireUncommitted(String method) {
        if (isCommitted()) {
            throw new IllegalStateException(method + "() was called after the response had been committed");
        }
    }

    private void end(Form how, int finalStatus, @Nullable String message) {
        form = how;
        status = finalStatus;
        text = message;
        body.end();
    }

    // What the filter does

    /** From now on the body may pass. */
    void passBy(Passage through) {
        body.passBy(through);
    }

    /** From now on whatever is written is refused. */
    void silence() {
        body.silence();
    }

    /** Whether something was written that could not be held back. */
    boolean isIncomplete() {
        return body.isIncomplete();
    }

    /** Whether the body is here and fits into a record, and nothing went to the client past this wrapper. */
    boolean isWhole() {
        body.drain();
        return body.isWhole() && !real.isCommitted();
    }

    /** The response as it is stored. */
    StoredResponse capture(ReplayableHeaders replayable, boolean withBody) {
        body.drain();
        List<Header> headers = new ArrayList<>();
        for (String name : replayable.names()) {
            getHeaders(name).forEach(value -> headers.add(new Header(name, value)));
        }
        if (language != null
                && headers.stream().noneMatch(header -> header.name().equals("Content-Language"))) {
            headers.add(new Header("Content-Language", language));
        }
        String coding = getHeader("Content-Encoding");
        // From before the handler it is the promise of a filter that encodes what is sent, not what the body is.
        if (withBody && coding != null && !earlier.contain("Content-Encoding")) {
            headers.add(new Header("Content-Encoding", coding));
        }
        return new StoredResponse(
                form, getStatus(), text, getContentType(), headers, withBody ? body.toByteArray() : new byte[0]);
    }

    /** Sends what was held back. */
    void send() throws IOException {
        body.drain();
        if (body.isPassing() || real.isCommitted()) {
            return;
        }
        if (form == Form.ERROR) {
            if (text == null) {
                real.sendError(status);
            } else {
                real.sendError(status, text);
            }
        } else if (form == Form.REDIRECT) {
            real.sendRedirect(text);
        } else if (!body.isEmpty()) {
            body.writeTo(real.getOutputStream());
        }
    }

    /** Forgets the body and how the response was to end; headers stay. */
    void discardBody() {
        body.restart();
        form = Form.PLAIN;
        text = null;
    }

    /** Forgets everything that describes a body; other headers of whoever was asked before the handler stay. */
    void discardContent() {
        List<Header> others = new EarlierHeaders(real).headers();
        discard();
        others.stream()
                .filter(header -> CONTENT.stream().noneMatch(header.name()::equalsIgnoreCase))
                .filter(header -> !earlier.headers().contains(header))
                .forEach(header -> real.addHeader(header.name(), header.value()));
    }

    /** Makes the response what it was before the handler. */
    void discard() {
        if (body.isPassing()) {
            return;
        }
        discardBody();
        if (!real.isCommitted()) {
            real.reset();
            earlier.restore(real);
        }
        forgetStreams();
    }

    private void forgetStreams() {
        stream = null;
        writer = null;
        encoding = null;
        body.forgetWriter();
    }

    @Override
    public void close() throws IOException {
        body.close();
    }
}
