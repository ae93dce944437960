package io.idempotency.spring.web;

import io.idempotency.Idempotent;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;

/** Handlers that use the response in every way the servlet API has. The answers are the same on every execution. */
@Controller
@RequestMapping("/responses")
class ResponseHandlers {

    static final String EMOJI = "{\"text\":\"charg\u00e9e \ud83d\ude00\"}";

    private final Effects effects;

    ResponseHandlers(Effects effects) {
        this.effects = effects;
    }

    @PostMapping("/statuses/{status}")
    @ResponseBody
    @Idempotent
    ResponseEntity<String> status(@PathVariable int status, @RequestHeader("Idempotency-Key") String key) {
        effects.add(key);
        return ResponseEntity.status(status).body("status " + status);
    }

    @PostMapping("/no-content")
    @Idempotent
    ResponseEntity<Void> noContent(@RequestHeader("Idempotency-Key") String key) {
        effects.add(key);
        return ResponseEntity.noContent().eTag("v1").build();
    }

    @PostMapping("/raw/{how}")
    @Idempotent
    void raw(
            @PathVariable String how,
            @RequestHeader("Idempotency-Key") String key,
            HttpServletRequest request,
            HttpServletResponse response)
            throws IOException, ServletException {
        effects.add(key);
        switch (how) {
            case "bytes" -> {
                response.setContentType("application/pdf");
                for (int i = 0; i < 256; i++) {
                    response.getOutputStream().write(i);
                }
            }
            case "latin1" -> {
                response.setContentType("text/plain;charset=ISO-8859-1");
                response.getWriter().print("charg\u00e9e");
            }
            case "latin1-default" -> {
                response.setContentType("text/plain");
                response.getWriter().print("charg\u00e9e");
            }
            case "utf16" -> {
                response.setContentType("text/plain;charset=UTF-16");
                response.getWriter().print("charg\u00e9e");
            }
            case "utf16-reset" -> {
                response.setContentType("text/plain;charset=UTF-16");
                response.getWriter().print("charg\u00e9e");
                response.resetBuffer();
                response.getWriter().print("charg\u00e9e again");
            }
            case "json-writer" -> {
                response.setContentType("application/json");
                response.setCharacterEncoding("UTF-8");
                response.getWriter().print(EMOJI);
            }
            case "json-stream" -> {
                response.setContentType("application/json");
                response.getOutputStream().write(EMOJI.getBytes(StandardCharsets.UTF_8));
            }
            case "late-encoding" -> {
                response.setContentType("text/plain;charset=UTF-8");
                PrintWriter writer = response.getWriter();
                response.setCharacterEncoding("ISO-8859-1");
                response.setContentType("text/html;charset=ISO-8859-1");
                writer.print("charg\u00e9e");
            }
            case "locale" -> {
                response.setLocale(Locale.CANADA_FRENCH);
                response.setContentType("text/plain;charset=UTF-8");
                response.getWriter().print("charg\u00e9e");
            }
            case "no-type" -> response.getOutputStream().write(new byte[] {1, 2, 3});
            case "flush" -> {
                response.setContentType("text/plain;charset=UTF-8");
                response.setHeader("ETag", "\"before\"");
                response.getWriter().print("a".repeat(1024));
                response.flushBuffer();
                response.setHeader("ETag", "\"after\"");
                response.addHeader("Link", "</late>");
                response.setStatus(418);
                response.getWriter().print(response.isCommitted() ? "b".repeat(1024) : "not committed");
            }
            case "stream-flush" -> {
                response.setContentType("text/plain");
                response.getOutputStream().write("first".getBytes(StandardCharsets.US_ASCII));
                response.getOutputStream().flush();
                response.setHeader("ETag", "\"after\"");
                response.getOutputStream().write("second".getBytes(StandardCharsets.US_ASCII));
            }
            case "flush-then-reset" -> {
                response.setContentType("text/plain");
                response.getWriter().print("kept ");
                response.flushBuffer();
                try {
                    response.reset();
                } catch (IllegalStateException e) {
                    response.getWriter().print("ISE");
                }
            }
            case "reset" -> {
                response.setStatus(418);
                response.setHeader("ETag", "\"gone\"");
                response.getWriter().print("gone");
                response.reset();
                response.setContentType("text/plain");
                response.getOutputStream().write("kept".getBytes(StandardCharsets.US_ASCII));
            }
            case "reset-buffer" -> {
                response.setContentType("text/plain");
                response.setHeader("ETag", "\"kept\"");
                response.getWriter().print("gone");
                response.resetBuffer();
                response.getWriter().print("kept");
            }
            case "close" -> {
                response.setContentType("text/plain");
                OutputStream out = response.getOutputStream();
                out.write("kept".getBytes(StandardCharsets.US_ASCII));
                out.close();
                response.setHeader("ETag", "\"late\"");
            }
            case "redirect" -> response.sendRedirect("/elsewhere");
            case "error" -> {
                response.getWriter().print("gone");
                response.sendError(422, "no such account");
            }
            case "error-plain" -> response.sendError(404);
            case "error-then-write" -> {
                PrintWriter writer = response.getWriter();
                response.sendError(422, "no such account");
                writer.print("ignored");
                response.setHeader("ETag", "\"ignored\"");
            }
            case "content-length" -> {
                response.setContentType("text/plain");
                response.setContentLength(5);
                response.getOutputStream().write("12345".getBytes(StandardCharsets.US_ASCII));
            }
            case "forward" -> request.getRequestDispatcher("/responses/target").forward(request, response);
            case "include" -> {
                response.setContentType("text/plain");
                response.getWriter().print("[");
                request.getRequestDispatcher("/responses/target").include(request, response);
                response.getWriter().print("]");
            }
            default -> throw new IllegalArgumentException(how);
        }
    }

    @RequestMapping("/target")
    void target(HttpServletResponse response) throws IOException {
        response.setContentType("text/plain");
        response.getWriter().print("target");
        response.getWriter().flush();
    }

    @PostMapping("/body/{size}")
    @ResponseBody
    @Idempotent
    ResponseEntity<String> body(@PathVariable int size, @RequestHeader("Idempotency-Key") String key) {
        effects.add(key);
        return ResponseEntity.created(java.net.URI.create("/things/1"))
                .contentType(MediaType.TEXT_PLAIN)
                .body("0123456789abcdef".repeat(size / 16));
    }

    @PostMapping("/transfer-headers")
    @ResponseBody
    @Idempotent
    ResponseEntity<String> transferHeaders(@RequestHeader("Idempotency-Key") String key) {
        effects.add(key);
        return ResponseEntity.ok()
                .header("Keep-Alive", "timeout=99")
                .header("Trailer", "X-Old")
                .header("Upgrade", "h2c")
                .header("Proxy-Authenticate", "Basic")
                .header("Date", "Thu, 01 Jan 1970 00:00:00 GMT")
                .header("Server", "old")
                .header("X-Internal", "not listed")
                .header("X-Listed", "listed")
                .header("ETag", "\"v1\"")
                .header(HttpHeaders.LINK, "</one>; rel=\"first\"")
                .header(HttpHeaders.LINK, "</two>; rel=\"next\"")
                .header("Content-Disposition", "attachment; filename=\"a.txt\"")
                .header("Content-Language", "fr-CA")
                .body("0123456789".repeat(1024));
    }

    @PostMapping("/login")
    @ResponseBody
    @Idempotent
    Map<String, Object> login(
            @RequestHeader("Idempotency-Key") String key, HttpServletRequest request, HttpServletResponse response) {
        effects.add(key);
        request.getSession(true).setAttribute("user", "alice");
        response.addCookie(new Cookie("remember", "s3cr3t-cookie"));
        response.addHeader("Set-Cookie", "other=s3cr3t-other");
        response.addHeader("WWW-Authenticate", "Bearer realm=\"s3cr3t-realm\"");
        response.addHeader("Authorization", "s3cr3t-authorization");
        response.addHeader("X-CSRF-TOKEN", "s3cr3t-csrf");
        response.addHeader("Clear-Site-Data", "\"cookies\"");
        response.addHeader("Access-Control-Allow-Origin", "https://s3cr3t.example");
        return Map.of("ok", true);
    }

    @PostMapping("/forged")
    @ResponseBody
    @Idempotent
    ResponseEntity<String> forged(@RequestHeader("Idempotency-Key") String key, HttpServletResponse response) {
        effects.add(key);
        response.setHeader("Idempotent-Replayed", "true");
        response.addHeader("idempotent-replayed", "true");
        return ResponseEntity.ok().header("Idempotent-Replayed", "true").body("forged");
    }

    @PostMapping("/redirect-view")
    @Idempotent
    String redirectView(@RequestHeader("Idempotency-Key") String key, @RequestParam(required = false) String to) {
        effects.add(key);
        return "redirect:/elsewhere";
    }

    @PostMapping("/forward-view")
    @Idempotent
    String forwardView(@RequestHeader("Idempotency-Key") String key) {
        effects.add(key);
        return "forward:/responses/no-content";
    }

    @PostMapping("/stray-forward")
    String strayForward() {
        return "forward:/responses/no-content";
    }
}
