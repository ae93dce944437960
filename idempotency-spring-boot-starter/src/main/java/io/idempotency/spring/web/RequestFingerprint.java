package io.idempotency.spring.web;

import io.idempotency.FingerprintScheme;
import io.idempotency.spi.Fingerprint;
import jakarta.servlet.http.Part;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.springframework.http.server.PathContainer;

/**
 * The fingerprint of a request: method, path, query, media type and body. The order of the query's parameters does not matter, nor do
 * the parameters of the media type. A form is compared by its fields, a multipart body by its parts and not by their boundary.
 */
final class RequestFingerprint {

    private static final String RAW = "http-raw/1";
    private static final String JSON = "http-json/1";

    private RequestFingerprint() {}

    static Fingerprint of(CachedRequest request, FingerprintScheme scheme, String path, PathContainer parsedPath)
            throws IOException {
        if (scheme == FingerprintScheme.NONE) {
            return Fingerprint.NONE;
        }
        String mediaType = CachedRequest.mediaType(request);
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        String form = write(body, request, scheme, mediaType);
        return Fingerprint.sha256(
                scheme == FingerprintScheme.JSON ? JSON : RAW,
                bytes(request.getMethod()),
                bytes(path),
                matrixParameters(parsedPath),
                FormPairs.parse(request.getQueryString()).canonical(),
                bytes(mediaType),
                bytes(form),
                body.toByteArray());
    }

    /** Writes what is compared of the body, and says what it is. */
    private static String write(
            ByteArrayOutputStream out, CachedRequest request, FingerprintScheme scheme, String mediaType)
            throws IOException {
        if (request.isMultipart()) {
            out.writeBytes(parts(request));
            return "parts";
        }
        if (request.isForm()) {
            out.writeBytes(FormPairs.parse(request.body()).canonical());
            return "form";
        }
        if (scheme == FingerprintScheme.JSON && isJson(mediaType)) {
            Optional<byte[]> canonical = CanonicalJson.of(request.body());
            if (canonical.isPresent()) {
                out.writeBytes(canonical.get());
                return "json";
            }
        }
        out.writeBytes(request.body());
        return "raw";
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
}
