package io.idempotency.spring.web;

import io.idempotency.FingerprintScheme;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.FingerprintStrategy;
import io.idempotency.spring.json.CanonicalJson;
import jakarta.servlet.http.Part;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;

/**
 * The fingerprint of a request: method, path, query, media type and body. The order of the query's parameters does not matter, nor do
 * the parameters of the media type. A form is compared by its fields, a multipart body by its parts and not by their boundary.
 */
final class RequestFingerprint {

    private static final String RAW = "http-raw/2";
    private static final String JSON = "http-json/2";

    // 128 bits of the whole, then 24 of each part: enough to tell which one differs, and nothing of what it is.
    private static final int WHOLE = 32;
    private static final int PART = 6;
    private static final List<String> PARTS = List.of("method", "path", "query", "media-type", "body");

    private RequestFingerprint() {}

    static Fingerprint of(
            CachedRequest request,
            HttpOperation operation,
            @Nullable FingerprintStrategy strategy,
            String path,
            PathContainer parsedPath)
            throws IOException {
        FingerprintScheme scheme = operation.fingerprintScheme();
        if (scheme == FingerprintScheme.NONE) {
            return Fingerprint.NONE;
        }
        String mediaType = CachedRequest.mediaType(request);
        byte[] own = strategy == null || request.isMultipart()
                ? null
                : strategy.compared(operation.name(), mediaType, request.body());
        Body body = own == null ? bodyOf(request, scheme, mediaType) : new Body("own", own);
        String name =
                own != null && strategy != null ? strategy.scheme() : scheme == FingerprintScheme.JSON ? JSON : RAW;
        return composed(
                name,
                bytes(request.getMethod()),
                joined(bytes(path), matrixParameters(parsedPath)),
                FormPairs.parse(request.getQueryString()).canonical(),
                bytes(mediaType),
                // Its digest, so that a large one is not copied.
                bytes(Fingerprint.sha256(name, bytes(body.form()), body.content())
                        .digest()));
    }

    private static byte[] joined(byte[] one, byte[] other) {
        return ByteBuffer.allocate(4 + one.length + other.length)
                .putInt(one.length)
                .put(one)
                .put(other)
                .array();
    }

    private static Fingerprint composed(String scheme, byte[]... parts) {
        StringBuilder digest = new StringBuilder(WHOLE + PART * parts.length);
        digest.append(Fingerprint.sha256(scheme, parts).digest(), 0, WHOLE);
        for (byte[] part : parts) {
            digest.append(Fingerprint.sha256(scheme, part).digest(), 0, PART);
        }
        return new Fingerprint(scheme, digest.toString());
    }

    /** The parts in which two requests differ; empty if that is not known. */
    static List<String> differences(Fingerprint one, Fingerprint other) {
        int length = WHOLE + PART * PARTS.size();
        if (!one.contradicts(other)
                || one.digest().length() != length
                || other.digest().length() != length) {
            return List.of();
        }
        List<String> different = new ArrayList<>();
        for (int i = 0; i < PARTS.size(); i++) {
            int from = WHOLE + PART * i;
            if (!one.digest().regionMatches(from, other.digest(), from, PART)) {
                different.add(PARTS.get(i));
            }
        }
        return List.copyOf(different);
    }

    private static Body bodyOf(CachedRequest request, FingerprintScheme scheme, String mediaType) throws IOException {
        if (request.isMultipart()) {
            return new Body("parts", parts(request));
        }
        if (request.isForm()) {
            return new Body("form", FormPairs.parse(request.body()).canonical());
        }
        Optional<byte[]> json = scheme == FingerprintScheme.JSON && isJson(mediaType)
                ? CanonicalJson.of(request.body())
                : Optional.empty();
        return json.isPresent() ? new Body("json", json.get()) : new Body("raw", request.body());
    }

    private static boolean isJson(String mediaType) {
        return mediaType.equals("application/json") || mediaType.endsWith("+json");
    }

    // They are no part of the scope: the container's session id comes as one of them.
    private static byte[] matrixParameters(PathContainer path) {
        StringBuilder text = new StringBuilder();
        for (PathContainer.Element element : path.elements()) {
            if (element instanceof PathContainer.PathSegment segment) {
                segment.parameters().forEach((name, values) -> {
                    if (!name.toLowerCase(Locale.ROOT).equals("jsessionid")) {
                        text.append(name.length()).append(':').append(name);
                        values.forEach(value -> text.append('=')
                                .append(value.length())
                                .append(':')
                                .append(value));
                    }
                });
                text.append('/');
            }
        }
        return text.chars().allMatch(each -> each == '/') ? new byte[0] : bytes(text.toString());
    }

    private static byte[] parts(CachedRequest request) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(all);
        for (Part part : request.parts()) {
            write(out, part.getName());
            write(out, Objects.requireNonNullElse(part.getSubmittedFileName(), ""));
            write(out, Objects.requireNonNullElse(part.getContentType(), ""));
            out.write(digest(part));
        }
        return all.toByteArray();
    }

    private static void write(DataOutputStream out, String text) throws IOException {
        byte[] bytes = bytes(text);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static byte[] digest(Part part) throws IOException {
        try (InputStream in = part.getInputStream()) {
            DigestInputStream digesting = new DigestInputStream(in, MessageDigest.getInstance("SHA-256"));
            digesting.transferTo(OutputStream.nullOutputStream());
            return digesting.getMessageDigest().digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is part of every Java platform", e);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** What is compared of a body, and what that is. */
    private record Body(String form, byte[] content) {}
}
