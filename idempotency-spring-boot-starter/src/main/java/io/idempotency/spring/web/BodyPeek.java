package io.idempotency.spring.web;

import io.idempotency.RequestTooLargeException;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.FingerprintStrategy;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;

/**
 * A look at the body of a request that must arrive at its handler whatever is seen: small or large, whole or cut off.
 *
 * @param request for the handler
 * @param cached the same if its body is known
 * @param tooLarge why its body would be refused
 */
record BodyPeek(
        HttpServletRequest request,
        @Nullable CachedRequest cached,
        @Nullable RequestTooLargeException tooLarge) {

    private static final int CHUNK = 8192;

    static BodyPeek none(HttpServletRequest request) {
        return new BodyPeek(request, null, null);
    }

    static BodyPeek into(HttpServletRequest request, long limit) throws IOException {
        String type = CachedRequest.mediaType(request);
        boolean form = type.equals("application/x-www-form-urlencoded");
        if (form && request.getContentLengthLong() < 0) {
            // Nobody but the container could make parameters of what is left of it.
            return none(request);
        }
        if (form || type.startsWith("multipart/") || request.getContentLengthLong() > limit) {
            return known(request, limit);
        }
        return raw(request, limit);
    }

    private static BodyPeek known(HttpServletRequest request, long limit) throws IOException {
        try {
            CachedRequest cached = CachedRequest.read(request, limit);
            if (cached == null) {
                return none(request);
            }
            cached.allowAsync();
            return new BodyPeek(cached, cached, null);
        } catch (RequestTooLargeException e) {
            return new BodyPeek(request, null, e);
        }
    }

    private static BodyPeek raw(HttpServletRequest request, long limit) throws IOException {
        ServletInputStream rest = request.getInputStream();
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        byte[] chunk = new byte[CHUNK];
        boolean whole = false;
        try {
            while (!whole && read.size() <= limit) {
                int length = rest.read(chunk);
                whole = length < 0;
                read.write(chunk, 0, Math.max(length, 0));
            }
        } catch (IOException e) {
            // The handler meets it where it reads on.
            return new BodyPeek(new Continued(request, read.toByteArray(), new Broken(e)), null, null);
        }
        if (!whole) {
            return new BodyPeek(new Continued(request, read.toByteArray(), rest), null, CachedRequest.tooLarge(limit));
        }
        CachedRequest cached = CachedRequest.of(request, read.toByteArray());
        cached.allowAsync();
        return new BodyPeek(cached, cached, null);
    }

    /** @throws RequestTooLargeException if it would be refused */
    Fingerprint fingerprint(
            String key,
            HttpOperation operation,
            @Nullable FingerprintStrategy strategy,
            String path,
            PathContainer parsedPath) {
        if (tooLarge != null) {
            throw tooLarge;
        }
        if (cached == null) {
            return Fingerprint.NONE;
        }
        cached.requireFewFields();
        try {
            return RequestFingerprint.of(cached, key, operation, strategy, path, parsedPath);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A request whose body was read in part. */
    private static final class Continued extends HttpServletRequestWrapper {

        private final ServletInputStream stream;
        private @Nullable BufferedReader reader;

        Continued(HttpServletRequest request, byte[] read, ServletInputStream rest) {
            super(request);
            stream = new ContinuedStream(new ByteArrayInputStream(read), rest);
        }

        @Override
        public ServletInputStream getInputStream() {
            return stream;
        }

        @Override
        public BufferedReader getReader() throws IOException {
            if (reader == null) {
                String encoding = getCharacterEncoding();
                reader = new BufferedReader(
                        encoding == null
                                ? new InputStreamReader(stream, StandardCharsets.ISO_8859_1)
                                : new InputStreamReader(stream, encoding));
            }
            return reader;
        }
    }

    private static final class ContinuedStream extends ServletInputStream {

        private final ByteArrayInputStream read;
        private final ServletInputStream rest;

        ContinuedStream(ByteArrayInputStream read, ServletInputStream rest) {
            this.read = read;
            this.rest = rest;
        }

        @Override
        public int read() throws IOException {
            return read.available() > 0 ? read.read() : rest.read();
        }

        @Override
        public int read(byte[] buffer, int offset, int length) throws IOException {
            return read.available() > 0 ? read.read(buffer, offset, length) : rest.read(buffer, offset, length);
        }

        @Override
        public int available() throws IOException {
            return read.available() > 0 ? read.available() : rest.available();
        }

        @Override
        public boolean isFinished() {
            return read.available() == 0 && rest.isFinished();
        }

        @Override
        public boolean isReady() {
            return read.available() > 0 || rest.isReady();
        }

        @Override
        public void setReadListener(ReadListener listener) {
            rest.setReadListener(listener);
        }
    }

    /** What is left of a body that the client did not send. */
    private static final class Broken extends ServletInputStream {

        private final IOException failure;

        Broken(IOException failure) {
            this.failure = failure;
        }

        @Override
        public int read() throws IOException {
            throw failure;
        }

        @Override
        public boolean isFinished() {
            return false;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            listener.onError(failure);
        }
    }
}
