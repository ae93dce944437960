package io.idempotency.spring.web;

import io.idempotency.spring.web.StoredResponse.Form;
import io.idempotency.spring.web.StoredResponse.Header;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
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
final class BufferedResponse extends HttpServletResponseWrapper implements AutoCloseable {

    private static final Pattern CHARSET =
            Pattern.compile(";\\s*charset\\s*=\\s*(\"[^\"]*\"|[^;]*)", Pattern.CASE_INSENSITIVE);

    private static final Set<String> CONTENT =
            Set.of("Content-Encoding", "Content-Language", "Content-Range", "Content-Disposition");

    private final HttpServletResponse real;
    private final String replayedHeader;
    private final EarlierHeaders earlier;
    private final BodyBuffer body;
    private @Nullable HttpServletResponse shield;
    private @Nullable BufferStream stream;
    private @Nullable EncodingWriter encoder;
    private @Nullable PrintWriter writer;
    private @Nullable Passage passage;
    private boolean passing;
    private boolean silenced;
    private boolean committed;
    private boolean suspended;
    private Form form = Form.PLAIN;
    private int status;
    private @Nullable String text;
    private @Nullable String language;

    BufferedResponse(HttpServletResponse response, WebSettings settings) {
        super(response);
        real = response;
        replayedHeader = settings.replayedHeader();
        earlier = new EarlierHeaders(response);
        body = new BodyBuffer(
                settings.maxResponseSize().toBytes(), settings.maxSpillSize().toBytes());
    }

    /** The response that goes to the client. Only for the filter. */
    HttpServletResponse real() {
        return real;
    }

    // After a forward, Tomcat 11 looks through all wrappers for its own response and ends it, whatever a wrapper holds
    // back (suspendWrappedResponseAfterForward). It must not find it here.
    @Override
    public ServletResponse getResponse() {
        ServletResponse wrapped = super.getResponse();
        if (wrapped != real) {
            return wrapped;
        }
        if (shield == null) {
            shield = (HttpServletResponse) Proxy.newProxyInstance(
                    HttpServletResponse.class.getClassLoader(),
                    new Class<?>[] {HttpServletResponse.class},
                    (proxy, method, arguments) -> invokeReal(method, arguments));
        }
        return shield;
    }

    private @Nullable Object invokeReal(Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(real, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }

    // What the handler does

    @Override
    public ServletOutputStream getOutputStream() {
        if (writer != null) {
            throw new IllegalStateException("getWriter() has already been called for this response");
        }
        if (stream == null) {
            stream = new BufferStream();
        }
        return stream;
    }

    @Override
    public PrintWriter getWriter() throws IOException {
        if (stream != null) {
            throw new IllegalStateException("getOutputStream() has already been called for this response");
        }
        if (writer == null) {
            String encoding = getCharacterEncoding();
            encoder = new EncodingWriter(encoding);
            // As a container does it: the encoding is settled by now and becomes part of the content type.
            super.setCharacterEncoding(encoding);
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
        if (writer == null || encoder == null) {
            super.setContentType(type);
            return;
        }
        super.setContentType(withoutCharset(type));
        super.setCharacterEncoding(encoder.encoding);
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
    public void setStatus(int newStatus) {
        if (!isCommitted()) {
            super.setStatus(newStatus);
        }
    }

    @Override
    public int getStatus() {
        return form == Form.PLAIN ? super.getStatus() : status;
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

    @Override
    public void setBufferSize(int size) {
        if (isCommitted() || body.size() > 0) {
            throw new IllegalStateException("The buffer cannot be changed after something was written");
        }
        super.setBufferSize(size);
    }

    @Override
    public boolean isCommitted() {
        return committed || super.isCommitted();
    }

    @Override
    public void flushBuffer() throws IOException {
        drain();
        flushBody();
    }

    private void flushBody() throws IOException {
        if (!suspended && passage != null && passage.isStream()) {
            pass(passage);
        }
        committed = true;
        if (passing) {
            real.flushBuffer();
        }
    }

    private void pass(Passage through) throws IOException {
        if (passing) {
            return;
        }
        through.open();
        passing = true;
        committed = true;
        body.writeTo(real.getOutputStream());
        body.reset();
    }

    @Override
    public void resetBuffer() {
        requireUncommitted("resetBuffer");
        clearBody();
    }

    @Override
    public void reset() {
        requireUncommitted("reset");
        super.reset();
        clearBody();
        stream = null;
        writer = null;
        encoder = null;
        language = null;
    }

    @Override
    public void sendError(int errorStatus, @Nullable String message) {
        requireUncommitted("sendError");
        clearBody();
        end(Form.ERROR, errorStatus, message);
    }

    @Override
    public void sendError(int errorStatus) {
        sendError(errorStatus, null);
    }

    @Override
    public void sendRedirect(String location) {
        requireUncommitted("sendRedirect");
        clearBody();
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
            clearBody();
        }
        super.setStatus(redirectStatus);
        super.setHeader("Location", location);
        endBody();
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
        endBody();
    }

    private void endBody() {
        drain();
        committed = true;
        suspended = true;
    }

    private void clearBody() {
        try {
            body.reset();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (encoder != null) {
            encoder.restart();
        }
    }

    private void drain() {
        if (encoder != null) {
            encoder.drain();
        }
    }

    // What the filter does

    /** From now on the body may pass. */
    void passBy(Passage through) {
        passage = through;
    }

    /** From now on whatever is written is refused. */
    void silence() {
        silenced = true;
        committed = true;
        suspended = true;
    }

    /** Whether something was written that could not be held back. */
    boolean isIncomplete() {
        return body.isIncomplete();
    }

    /** Whether the body is here and fits into a record, and nothing went to the client past this wrapper. */
    boolean isWhole() {
        drain();
        return body.isSmall() && !body.isIncomplete() && !passing && !real.isCommitted();
    }

    /** The response as it is stored. */
    StoredResponse capture(ReplayableHeaders replayable, boolean withBody) {
        drain();
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
        drain();
        if (passing || real.isCommitted()) {
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
        } else if (body.size() > 0) {
            body.writeTo(real.getOutputStream());
        }
    }

    /** Forgets the body and how the response was to end; headers stay. */
    void discardBody() {
        clearBody();
        form = Form.PLAIN;
        text = null;
        committed = false;
        suspended = false;
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
        if (passing) {
            return;
        }
        discardBody();
        if (!real.isCommitted()) {
            real.reset();
            earlier.restore(real);
        }
        stream = null;
        writer = null;
        encoder = null;
    }

    @Override
    public void close() throws IOException {
        body.close();
    }

    private final class BufferStream extends ServletOutputStream {

        @Override
        public boolean isReady() {
            return true;
        }

        // A buffer is always ready, so that once is enough.
        @Override
        public void setWriteListener(WriteListener listener) {
            if (passage == null) {
                throw new IllegalStateException("This response is not asynchronous");
            }
            try {
                listener.onWritePossible();
            } catch (IOException e) {
                listener.onError(e);
            }
        }

        @Override
        public void write(int each) throws IOException {
            write(new byte[] {(byte) each}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            if (silenced) {
                throw new IOException("The client has got another answer");
            }
            if (suspended) {
                return;
            }
            if (passage != null && !passing && (body.wouldOverflow(length) || passage.isStream())) {
                pass(passage);
            }
            if (passing) {
                real.getOutputStream().write(bytes, offset, length);
            } else {
                body.write(bytes, offset, length);
            }
        }

        @Override
        public void flush() throws IOException {
            flushBody();
        }

        @Override
        public void close() {
            endBody();
        }
    }

    /** Below the print writer: encodes, and starts anew after a reset, so that a byte order mark is not lost. */
    private final class EncodingWriter extends Writer {

        private final String encoding;
        private OutputStreamWriter out;

        EncodingWriter(String encoding) throws IOException {
            this.encoding = encoding;
            this.out = new OutputStreamWriter(new Encoded(), encoding);
        }

        @Override
        public void write(char[] chars, int offset, int length) throws IOException {
            if (!suspended) {
                out.write(chars, offset, length);
            }
        }

        @Override
        public void write(String chars, int offset, int length) throws IOException {
            if (!suspended) {
                out.write(chars, offset, length);
            }
        }

        void drain() {
            try {
                out.flush();
            } catch (IOException e) {
                // The body has noted that it is incomplete, or has passed.
            }
        }

        void restart() {
            try {
                out = new OutputStreamWriter(new Encoded(), encoding);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void flush() throws IOException {
            drain();
            flushBody();
        }

        @Override
        public void close() {
            endBody();
        }

        /** What is encoded, without the flushes of the encoder. */
        private final class Encoded extends OutputStream {

            private final BufferStream bytes = new BufferStream();

            @Override
            public void write(int each) throws IOException {
                bytes.write(each);
            }

            @Override
            public void write(byte[] encoded, int offset, int length) throws IOException {
                bytes.write(encoded, offset, length);
            }
        }
    }
}
