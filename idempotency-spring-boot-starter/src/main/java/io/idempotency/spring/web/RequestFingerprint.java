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
import java.util.Base64;
import java.util.HexFormat;
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
    private static final String JSON = "http-json/3";

    private static final List<String> PARTS = List.of("method", "path", "query", "media-type", "body");

    private RequestFingerprint() {}

    /** @param key that the client sent; empty where it is made of the arguments, so that others may know it */
    static Fingerprint of(
            CachedRequest request,
            String key,
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
        Body body = own == null ? bodyOf(request, key, scheme, mediaType) : new Body("own", own, "");
        String name =
                own != null && strategy != null ? strategy.scheme() : scheme == FingerprintScheme.JSON ? JSON : RAW;
        return composed(
                name,
                body.members(),
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

    private static Fingerprint composed(String scheme, String members, byte[]... parts) {
        Layout layout = Layout.of(scheme);
        StringBuilder digest = new StringBuilder();
        digest.append(layout.textOf(Fingerprint.sha256(scheme, parts)), 0, layout.whole);
        for (byte[] part : parts) {
            digest.append(layout.textOf(Fingerprint.sha256(scheme, part)), 0, layout.part);
        }
        return new Fingerprint(scheme, digest.append(members).toString());
    }

    /** The parts in which two requests differ; empty if that is not known. */
    static List<String> differences(Fingerprint one, Fingerprint other) {
        Layout layout = Layout.of(one.scheme());
        if (!one.contradicts(other) || !layout.fits(one) || !layout.fits(other)) {
            return List.of();
        }
        List<String> different = new ArrayList<>();
        for (int i = 0; i < PARTS.size(); i++) {
            int from = layout.whole + layout.part * i;
            if (!one.digest().regionMatches(from, other.digest(), from, layout.part)) {
                different.add(PARTS.get(i));
            }
        }
        return List.copyOf(different);
    }

    /**
     * The pointers of what the JSON body of a request has and that of another one did not have; empty if that is not known.
     *
     * @param key that both were sent with
     * @param body of the request
     */
    static List<String> pointers(Fingerprint of, Fingerprint other, String key, byte[] body) {
        return of.contradicts(other) && hasMembers(of) && hasMembers(other)
                ? JsonMembers.notIn(other.digest().substring(Layout.DENSE.length()), key, body)
                : List.of();
    }

    private static boolean hasMembers(Fingerprint fingerprint) {
        return fingerprint.scheme().equals(JSON)
                && fingerprint.digest().length() == Layout.DENSE.length() + PowerSums.LENGTH;
    }

    private static Body bodyOf(CachedRequest request, String key, FingerprintScheme scheme, String mediaType)
            throws IOException {
        if (request.isMultipart()) {
            return new Body("parts", parts(request), "");
        }
        if (request.isForm()) {
            return new Body("form", FormPairs.parse(request.body()).canonical(), "");
        }
        if (scheme == FingerprintScheme.JSON && isJson(mediaType)) {
            JsonMembers members = new JsonMembers(key);
            Optional<byte[]> json = CanonicalJson.of(request.body(), members);
            if (json.isPresent()) {
                return new Body("json", json.get(), members.asText());
            }
        }
        return new Body("raw", request.body(), "");
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

    /** What is compared of a body, what that is, and what is kept of its members. */
    private record Body(String form, byte[] content, String members) {}

    /**
     * What stands in a digest: 128 bits of the whole, then a few of each part. They tell which one differs, and nothing of what it is.
     */
    private enum Layout {
        /** In hexadecimal. */
        PLAIN(32, 6),
        /** In Base64, which leaves room for the members of a JSON body. */
        DENSE(22, 2);

        final int whole;
        final int part;

        Layout(int whole, int part) {
            this.whole = whole;
            this.part = part;
        }

        static Layout of(String scheme) {
            return scheme.equals(JSON) ? DENSE : PLAIN;
        }

        int length() {
            return whole + part * PARTS.size();
        }

        boolean fits(Fingerprint fingerprint) {
            int length = fingerprint.digest().length();
            return length == length() || hasMembers(fingerprint);
        }

        String textOf(Fingerprint fingerprint) {
            return this == PLAIN
                    ? fingerprint.digest()
                    : Base64.getUrlEncoder()
                            .withoutPadding()
                            .encodeToString(HexFormat.of().parseHex(fingerprint.digest()));
        }
    }
}
