package io.idempotency.spring.web;

import io.idempotency.UnknownCallerException;
import io.idempotency.spring.aop.AmbientKey;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The key header of the request that this thread works on, for bean methods that name no key. The client has chosen it, so it is
 * unique for that caller alone.
 *
 * @since 0.1.0
 */
public final class HttpAmbientKey implements AmbientKey.Source {

    private final HeaderKey header;
    private final boolean refuseAnonymous;

    public HttpAmbientKey(WebSettings settings) {
        this.header = new HeaderKey(settings.header());
        this.refuseAnonymous = settings.anonymous() == WebSettings.AnonymousCallers.REFUSE;
    }

    @Override
    public @Nullable AmbientKey current(String operation) {
        if (!(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)) {
            return null;
        }
        HttpServletRequest request = attributes.getRequest();
        String key = header.read(request);
        if (key == null) {
            return null;
        }
        Principal principal = request.getUserPrincipal();
        String caller = principal == null ? "" : principal.getName();
        if (caller.isBlank() && (principal != null || refuseAnonymous)) {
            throw new UnknownCallerException(
                    "The caller of operation " + operation + " is not known, so that nobody can tell whose key it is");
        }
        return new AmbientKey(key, "http:" + caller.length() + ":" + caller);
    }
}
