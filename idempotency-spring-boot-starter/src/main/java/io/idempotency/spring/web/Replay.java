package io.idempotency.spring.web;

import io.idempotency.spring.web.StoredResponse.Form;
import io.idempotency.spring.web.StoredResponse.Header;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/** Sends a stored response again. */
final class Replay {

    private final String replayedHeader;

    Replay(WebSettings settings) {
        replayedHeader = settings.replayedHeader();
    }

    void send(StoredResponse stored, HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setHeader(replayedHeader, "true");
        if (stored.contentType() != null) {
            response.setContentType(stored.contentType());
        }
        Set<String> set = new HashSet<>();
        for (Header header : stored.headers()) {
            if (header.name().equals("Content-Encoding")) {
                continue;
            }
            if (set.add(header.name())) {
                response.setHeader(header.name(), header.value());
            } else {
                response.addHeader(header.name(), header.value());
            }
        }
        if (stored.form() == Form.ERROR) {
            sendError(response, stored.status(), stored.text());
        } else if (stored.form() == Form.REDIRECT) {
            response.sendRedirect(stored.text());
        } else {
            response.setStatus(stored.status());
            sendBody(stored, request, response);
        }
    }

    private static void sendError(HttpServletResponse response, int status, @Nullable String message)
            throws IOException {
        if (message == null) {
            response.sendError(status);
        } else {
            response.sendError(status, message);
        }
    }

    // A filter behind this one has compressed the first response; this client may not want that.
    private static void sendBody(StoredResponse stored, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        String coding = stored.header("Content-Encoding");
        if (coding != null) {
            if (response.getHeaders("Vary").stream()
                    .noneMatch(value -> value.toLowerCase(Locale.ROOT).contains("accept-encoding"))) {
                response.addHeader("Vary", "Accept-Encoding");
            }
            if (coding.equalsIgnoreCase("gzip") && !accepts(request, "gzip")) {
                try (InputStream decoded = new GZIPInputStream(new ByteArrayInputStream(stored.body()))) {
                    decoded.transferTo(response.getOutputStream());
                }
                return;
            }
            response.setHeader("Content-Encoding", coding);
        }
        if (stored.body().length > 0) {
            response.getOutputStream().write(stored.body());
        }
    }

    private static boolean accepts(HttpServletRequest request, String coding) {
        String accepted = request.getHeader("Accept-Encoding");
        if (accepted == null) {
            return false;
        }
        for (String each : StringUtils.tokenizeToStringArray(accepted.toLowerCase(Locale.ROOT), ",")) {
            String[] parts = StringUtils.tokenizeToStringArray(each, ";");
            if (parts.length > 0 && (parts[0].equals(coding) || parts[0].equals("*"))) {
                return parts.length < 2 || !parts[1].matches("q=0(\\.0*)?");
            }
        }
        return false;
    }
}
