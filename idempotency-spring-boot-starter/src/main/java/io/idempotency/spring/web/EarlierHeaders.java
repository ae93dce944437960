package io.idempotency.spring.web;

import io.idempotency.spring.web.StoredResponse.Header;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Status and headers that were there before the handler, from filters that run outside of ours. */
final class EarlierHeaders {

    private final int status;
    private final @Nullable String contentType;
    private final List<Header> headers = new ArrayList<>();

    EarlierHeaders(HttpServletResponse response) {
        status = response.getStatus();
        contentType = response.getContentType();
        for (String name : response.getHeaderNames()) {
            if (!name.equalsIgnoreCase("Content-Type") && !name.equalsIgnoreCase("Content-Length")) {
                response.getHeaders(name).forEach(value -> headers.add(new Header(name, value)));
            }
        }
    }

    /** All but those of the body's type and length. */
    List<Header> headers() {
        return List.copyOf(headers);
    }

    boolean contain(String name) {
        return headers.stream().anyMatch(header -> header.name().equalsIgnoreCase(name));
    }

    void restore(HttpServletResponse response) {
        response.setStatus(status);
        if (contentType != null) {
            response.setContentType(contentType);
        }
        headers.forEach(header -> response.addHeader(header.name(), header.value()));
    }
}
