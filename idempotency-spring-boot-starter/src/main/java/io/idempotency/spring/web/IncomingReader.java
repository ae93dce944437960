package io.idempotency.spring.web;

import io.idempotency.MissingIdempotencyKeyException;
import io.idempotency.UnknownCallerException;
import io.idempotency.engine.OperationSettings;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.FingerprintStrategy;
import io.idempotency.spi.KeyScopeResolver;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** Reads of a request what there is before its handler's arguments. What it throws refuses the request. */
final class IncomingReader {

    private final WebSettings settings;
    private final HeaderKey headerKey;
    private final KeyScopeResolver scopeResolver;
    private final @Nullable FingerprintStrategy fingerprintStrategy;

    IncomingReader(
            WebSettings settings, KeyScopeResolver scopeResolver, @Nullable FingerprintStrategy fingerprintStrategy) {
        this.settings = settings;
        this.headerKey = new HeaderKey(settings.header());
        this.scopeResolver = scopeResolver;
        this.fingerprintStrategy = fingerprintStrategy;
    }

    /** @return empty if the key is going to be made of the arguments; null if there is none, and none is required */
    @Nullable
    String key(HttpServletRequest request, IdempotentHandler handler) {
        if (handler.operation().key() != null) {
            return "";
        }
        String key = headerKey.read(request);
        if (key == null) {
            requireNoKey(handler);
        }
        return key;
    }

    private static void requireNoKey(IdempotentHandler handler) {
        if (handler.operation().keyRequired()) {
            throw new MissingIdempotencyKeyException(
                    "Operation " + handler.operation().settings().operation() + " requires a key");
        }
    }

    /** @return null if there is no reading it */
    @Nullable
    Incoming read(HttpServletRequest request, String key, IdempotentHandler handler) throws IOException {
        String path = HttpScope.canonicalPath(handler.path());
        String scope = scope(request, handler, path);
        CachedRequest cached =
                CachedRequest.read(request, settings.maxRequestSize().toBytes());
        if (cached == null) {
            return null;
        }
        cached.requireFewFields();
        return new Incoming(
                cached,
                scope,
                RequestFingerprint.of(cached, key, handler.operation(), fingerprintStrategy, path, handler.path()));
    }

    Fingerprint fingerprint(BodyPeek body, String key, IdempotentHandler handler, String path) {
        return body.fingerprint(key, handler.operation(), fingerprintStrategy, path, handler.path());
    }

    String scope(HttpServletRequest request, IdempotentHandler handler, String path) {
        return handler.operation().key() == null ? callersScope(request, handler, path) : tenant(handler);
    }

    private String callersScope(HttpServletRequest request, IdempotentHandler handler, String path) {
        OperationSettings operation = handler.operation().settings();
        Principal principal = request.getUserPrincipal();
        String caller = principal == null ? null : principal.getName();
        boolean nameless = principal == null
                ? settings.anonymous() == WebSettings.AnonymousCallers.REFUSE
                : caller == null || caller.isBlank();
        if (nameless) {
            throw unknownCaller(operation);
        }
        String added = tenant(handler);
        return HttpScope.of(caller, added, request.getMethod(), path);
    }

    // Whoever the caller is: a business key means the same for all of a tenant.
    private String tenant(IdempotentHandler handler) {
        OperationSettings operation = handler.operation().settings();
        String tenant = scopeResolver.resolve(operation.operation());
        if (tenant == null) {
            throw unknownCaller(operation);
        }
        return tenant;
    }

    private static UnknownCallerException unknownCaller(OperationSettings operation) {
        return new UnknownCallerException("The caller of operation " + operation.operation()
                + " is not known, so that nobody can tell whose key it is");
    }

    /** What was read of a request of an idempotent handler. */
    record Incoming(CachedRequest request, String scope, Fingerprint fingerprint) {}
}
