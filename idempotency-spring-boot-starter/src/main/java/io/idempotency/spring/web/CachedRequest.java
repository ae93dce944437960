package io.idempotency.spring.web;

import io.idempotency.RequestTooLargeException;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.Part;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.web.filter.ShallowEtagHeaderFilter;

/**
 * A request whose body was read once, to be compared, and can be read again by everybody behind the filter in every way that the
 * container offers: as a stream, by a reader, as parameters, as parts.
 */
final class CachedRequest extends HttpServletRequestWrapper {

    // As many as Tomcat takes. Each of them costs far more memory than its bytes, and a container that has not read the
    // form does not count them.
    private static final int MOST_FIELDS = 10_000;

    private static final String STREAMING = ShallowEtagHeaderFilter.class.getName() + ".STREAMING";

    private final byte[] body;
    private final Kind kind;
    private final List<Part> parts;
    private boolean startedAsync;
    private volatile boolean asyncAllowed;
    private volatile boolean streaming;
    private volatile @Nullable AsyncStart asyncStart;
    private volatile @Nullable AsyncContext asyncContext;
    private @Nullable ServletInputStream stream;
    private @Nullable BufferedReader reader;
    private @Nullable Map<String, String[]> parameters;

    private CachedRequest(HttpServletRequest request, Kind kind, byte[] body, Collection<Part> parts) {
        super(request);
        this.kind = kind;
        this.body = body;
        this.parts = List.copyOf(parts);
    }

    /**
     * Reads the body.
     *
     * @return null if the parts of the body cannot be read, which is for the dispatcher to answer
     * @throws RequestTooLargeException if it is larger than the limit
     */
    static @Nullable CachedRequest read(HttpServletRequest request, long limit) throws IOException {
        if (request.getContentLengthLong() > limit) {
            throw tooLarge(limit);
        }
        String type = mediaType(request);
        if (type.startsWith("multipart/")) {
            return multipart(request, limit);
        }
        byte[] body = bytes(request, limit);
        if (!type.equals("application/x-www-form-urlencoded")) {
            return new CachedRequest(request, Kind.RAW, body, List.of());
        }
        if (body.length > 0) {
            return new CachedRequest(request, Kind.FORM, body, List.of());
        }
        // Somebody before us has asked for a parameter, so that the container has read the body.
        Charset charset = charset(request);
        byte[] read = FormPairs.beyondQuery(request.getParameterMap(), request.getQueryString(), charset)
                .encoded(charset);
        if (read.length > limit) {
            throw tooLarge(limit);
        }
        return new CachedRequest(request, Kind.PARSED_FORM, read, List.of());
    }

    /** The same where somebody has read a body that is neither a form nor has parts. */
    static CachedRequest of(HttpServletRequest request, byte[] body) {
        return new CachedRequest(request, Kind.RAW, body, List.of());
    }

    private static @Nullable CachedRequest multipart(HttpServletRequest request, long limit) throws IOException {
        Collection<Part> parts;
        try {
            parts = request.getParts();
        } catch (IllegalStateException e) {
            // Without a cause: multipart requests are not configured, and the body is still there.
            return e.getCause() == null ? new CachedRequest(request, Kind.RAW, bytes(request, limit), List.of()) : null;
        } catch (ServletException | IOException e) {
            return null;
        }
        if (parts.stream().mapToLong(Part::getSize).sum() > limit) {
            throw tooLarge(limit);
        }
        return new CachedRequest(request, Kind.MULTIPART, new byte[0], parts);
    }

    private static byte[] bytes(HttpServletRequest request, long limit) throws IOException {
        byte[] body = request.getInputStream().readNBytes((int) Math.min(limit + 1, Integer.MAX_VALUE - 8));
        if (body.length > limit) {
            throw tooLarge(limit);
        }
        return body;
    }

    static RequestTooLargeException tooLarge(long limit) {
        return new RequestTooLargeException("The body of a request with a key is larger than " + limit + " bytes");
    }

    /** Type and subtype of the body in lower case; empty without one. */
    static String mediaType(HttpServletRequest request) {
        String type = request.getContentType();
        if (type == null) {
            return "";
        }
        int semicolon = type.indexOf(';');
        return (semicolon < 0 ? type : type.substring(0, semicolon)).strip().toLowerCase(Locale.ROOT);
    }

    private static Charset charset(HttpServletRequest request) {
        String encoding = request.getCharacterEncoding();
        try {
            // The default of the servlet API.
            return encoding == null ? StandardCharsets.ISO_8859_1 : Charset.forName(encoding);
        } catch (IllegalCharsetNameException | UnsupportedCharsetException e) {
            return StandardCharsets.ISO_8859_1;
        }
    }

    /** @throws RequestTooLargeException if it is a form of more fields than a container would take */
    void requireFewFields() {
        if (kind == Kind.FORM && FormPairs.mayHaveMoreThan(MOST_FIELDS, body)) {
            throw new RequestTooLargeException("A form with a key has more than " + MOST_FIELDS + " fields");
        }
    }

    boolean isForm() {
        return kind == Kind.FORM || kind == Kind.PARSED_FORM;
    }

    boolean isMultipart() {
        return kind == Kind.MULTIPART;
    }

    /** The body as it came, or as it must have been; not a copy. Empty if it has parts. */
    byte[] body() {
        return body;
    }

    List<Part> parts() {
        return parts;
    }

    /** Whether somebody tried to answer on another thread where that is not allowed. */
    boolean hasStartedAsync() {
        return startedAsync;
    }

    @Override
    public ServletInputStream getInputStream() throws IOException {
        if (kind == Kind.MULTIPART) {
            return super.getInputStream();
        }
        if (reader != null) {
            throw new IllegalStateException("getReader() has already been called for this request");
        }
        if (stream == null) {
            stream = new CachedStream(body);
        }
        return stream;
    }

    @Override
    public BufferedReader getReader() throws IOException {
        if (kind == Kind.MULTIPART) {
            return super.getReader();
        }
        if (stream != null) {
            throw new IllegalStateException("getInputStream() has already been called for this request");
        }
        if (reader == null) {
            String encoding = getCharacterEncoding();
            InputStream bytes = new ByteArrayInputStream(body);
            reader = new BufferedReader(
                    encoding == null
                            ? new InputStreamReader(bytes, StandardCharsets.ISO_8859_1)
                            : new InputStreamReader(bytes, encoding));
        }
        return reader;
    }

    @Override
    public int getContentLength() {
        return kind == Kind.PARSED_FORM ? body.length : super.getContentLength();
    }

    @Override
    public long getContentLengthLong() {
        return kind == Kind.PARSED_FORM ? body.length : super.getContentLengthLong();
    }

    @Override
    public @Nullable String getParameter(String name) {
        String[] values = getParameterValues(name);
        return values == null || values.length == 0 ? null : values[0];
    }

    @Override
    public String @Nullable [] getParameterValues(String name) {
        if (!isFormOfContainer()) {
            return super.getParameterValues(name);
        }
        String[] values = merged().get(name);
        return values == null ? null : values.clone();
    }

    @Override
    public Map<String, String[]> getParameterMap() {
        return isFormOfContainer() ? Collections.unmodifiableMap(merged()) : super.getParameterMap();
    }

    @Override
    public Enumeration<String> getParameterNames() {
        return isFormOfContainer() ? Collections.enumeration(merged().keySet()) : super.getParameterNames();
    }

    // A container makes parameters of the body of a POST only, whatever method a filter pretends.
    private boolean isFormOfContainer() {
        return kind == Kind.FORM && "POST".equals(innermost().getMethod());
    }

    private HttpServletRequest innermost() {
        ServletRequest request = getRequest();
        while (request instanceof ServletRequestWrapper wrapper) {
            request = wrapper.getRequest();
        }
        return (HttpServletRequest) request;
    }

    // The body has been read, so the container knows only what is in the query. The values of the query come first.
    private Map<String, String[]> merged() {
        if (parameters == null) {
            Map<String, List<String>> all = new LinkedHashMap<>();
            super.getParameterMap().forEach((name, values) -> all.put(name, new ArrayList<>(List.of(values))));
            FormPairs.parse(body)
                    .asText(charset(this))
                    .forEach((name, values) -> all.computeIfAbsent(name, absent -> new ArrayList<>())
                            .addAll(values));
            Map<String, String[]> merged = new LinkedHashMap<>();
            all.forEach((name, values) -> merged.put(name, values.toArray(String[]::new)));
            parameters = merged;
        }
        return parameters;
    }

    /** From now on the request may be answered asynchronously, and nobody cares. */
    void allowAsync() {
        asyncAllowed = true;
    }

    /** From now on the request may be answered asynchronously, and somebody is told. */
    void allowAsync(AsyncStart start) {
        asyncAllowed = true;
        asyncStart = start;
    }

    /** Whether the response is written while the handler works, and not once it is known. */
    boolean isStreaming() {
        return streaming;
    }

    // Spring MVC says it to a filter of its own that buffers responses.
    @Override
    public void setAttribute(String name, @Nullable Object value) {
        if (name.equals(STREAMING)) {
            streaming = true;
        }
        super.setAttribute(name, value);
    }

    @Override
    public boolean isAsyncSupported() {
        return asyncAllowed && super.isAsyncSupported();
    }

    @Override
    public AsyncContext startAsync() {
        requireAsync();
        AsyncStart start = asyncStart;
        return start == null ? super.startAsync() : held(start, super.startAsync(this, start.response()));
    }

    @Override
    public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
        requireAsync();
        AsyncContext context = super.startAsync(request, response);
        AsyncStart start = asyncStart;
        return start == null ? context : held(start, context);
    }

    private AsyncContext held(AsyncStart start, AsyncContext context) {
        AsyncContext held = start.started(context);
        asyncContext = held;
        return held;
    }

    @Override
    public AsyncContext getAsyncContext() {
        AsyncContext context = super.getAsyncContext();
        AsyncContext held = asyncContext;
        return held == null ? context : held;
    }

    private void requireAsync() {
        if (!asyncAllowed) {
            startedAsync = true;
            throw new IllegalStateException("This idempotent request cannot be answered asynchronously");
        }
    }

    private enum Kind {
        /** Neither of the others. */
        RAW,
        /** A form that nobody has read before. */
        FORM,
        /** A form that the container has read. */
        PARSED_FORM,
        /** Parts, which the container has read. */
        MULTIPART
    }

    private static final class CachedStream extends ServletInputStream {

        private final ByteArrayInputStream bytes;

        CachedStream(byte[] body) {
            bytes = new ByteArrayInputStream(body);
        }

        @Override
        public boolean isFinished() {
            return bytes.available() == 0;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            try {
                listener.onDataAvailable();
                listener.onAllDataRead();
            } catch (IOException e) {
                listener.onError(e);
            }
        }

        @Override
        public int available() {
            return bytes.available();
        }

        @Override
        public int read() {
            return bytes.read();
        }

        @Override
        public int read(byte[] buffer, int offset, int length) {
            return bytes.read(buffer, offset, length);
        }
    }
}
