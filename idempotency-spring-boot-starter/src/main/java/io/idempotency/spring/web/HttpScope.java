package io.idempotency.spring.web;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.UriUtils;

/**
 * The scope of a key that comes with a request: its caller, what a {@link io.idempotency.spi.KeyScopeResolver} adds, its method and
 * its path. The same key of another caller, with another method or on another path is another record.
 *
 * @since 0.1.0
 */
public final class HttpScope {

    private HttpScope() {}

    /**
     * The scope as text, each part with its length in front, so that no two different scopes look the same. For whoever looks a
     * record up by its key.
     *
     * @param caller name of the authenticated principal; {@code null} for an anonymous caller
     * @param added what the {@code KeyScopeResolver} says; empty without one
     * @param method of the request, in capitals
     * @param path below the context path, without a slash at its end, without matrix parameters; what is not a letter, a digit or
     *     one of {@code -._~} in a segment is percent-encoded
     */
    public static String of(@Nullable String caller, String added, String method, String path) {
        StringBuilder scope = new StringBuilder(64 + path.length());
        if (caller == null) {
            scope.append("anonymous");
        } else {
            part(scope.append("user"), caller);
        }
        part(scope, added);
        part(scope, method);
        part(scope, path);
        return scope.toString();
    }

    private static void part(StringBuilder scope, String part) {
        scope.append(' ').append(part.length()).append(':').append(part);
    }

    // Spelled one way whatever the client did, and still injective: an encoded slash does not become a separator.
    static String canonicalPath(PathContainer path) {
        StringBuilder canonical = new StringBuilder(path.value().length());
        for (PathContainer.Element element : path.elements()) {
            if (element instanceof PathContainer.PathSegment segment) {
                canonical.append(encoded(segment.valueToMatch()));
            } else {
                canonical.append('/');
            }
        }
        int end = canonical.length();
        return end > 1 && canonical.charAt(end - 1) == '/' ? canonical.substring(0, end - 1) : canonical.toString();
    }

    private static String encoded(String segment) {
        return segment.chars().allMatch(HttpScope::isUnreserved)
                ? segment
                : UriUtils.encode(segment, StandardCharsets.UTF_8);
    }

    private static boolean isUnreserved(int each) {
        return (each >= 'a' && each <= 'z')
                || (each >= 'A' && each <= 'Z')
                || (each >= '0' && each <= '9')
                || "-._~".indexOf(each) >= 0;
    }
}
