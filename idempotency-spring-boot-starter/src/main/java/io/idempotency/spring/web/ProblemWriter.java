package io.idempotency.spring.web;

import io.idempotency.DuplicateRejectedException;
import io.idempotency.IdempotencyException;
import io.idempotency.KeyReusedException;
import io.idempotency.OperationInProgressException;
import io.idempotency.ProblemCode;
import io.idempotency.spi.Fingerprint;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.context.MessageSource;

/**
 * Answers a request with a problem (RFC 9457): the one place where a refusal becomes a status, headers and a body. Nothing of the
 * record or of the exception's message is part of it, and of the request at most the names of members of its JSON body.
 *
 * @since 0.1.0
 */
public final class ProblemWriter {

    private final WebSettings settings;
    private final HeaderKey headerKey;
    private final ProblemTexts texts;

    /**
     * @param applicationMessages asked first for {@code idempotency.problem.<code>.title} and {@code .detail}, so that an application
     *     can word them itself or add a language; {@code null} for the shipped texts alone
     */
    public ProblemWriter(WebSettings settings, @Nullable MessageSource applicationMessages) {
        this.settings = settings;
        this.headerKey = new HeaderKey(settings.header());
        this.texts = new ProblemTexts(applicationMessages);
    }

    /** The shipped texts, in English and Chinese. */
    public static MessageSource shippedMessages() {
        return ProblemTexts.shipped();
    }

    /** The status with which a refusal is answered. */
    public static int statusOf(ProblemCode code) {
        return switch (code) {
            case KEY_MISSING, KEY_INVALID, CALLER_UNKNOWN -> 400;
            case KEY_REUSED -> 422;
            case IN_PROGRESS, OUTCOME_UNKNOWN, RESULT_NOT_REPLAYABLE, DUPLICATE_REJECTED -> 409;
            case REQUEST_TOO_LARGE -> 413;
            case RESULT_UNREADABLE -> 500;
            case STORE_UNAVAILABLE -> 503;
        };
    }

    /** Answers with the problem of a refusal. The response must not be committed. */
    public void write(HttpServletRequest request, HttpServletResponse response, IdempotencyException refusal)
            throws IOException {
        setRetryAfter(response, refusal);
        if (refusal instanceof KeyReusedException reused) {
            writeReused(request, response, reused);
        } else {
            write(request, response, refusal.code(), Map.of());
        }
    }

    private void writeReused(HttpServletRequest request, HttpServletResponse response, KeyReusedException reused)
            throws IOException {
        Fingerprint stored = Fingerprint.parse(reused.storedFingerprint());
        Fingerprint given = Fingerprint.parse(reused.givenFingerprint());
        List<String> differences = RequestFingerprint.differences(given, stored);
        List<String> pointers = pointers(request, given, stored);
        Map<String, Object> extensions = new LinkedHashMap<>();
        if (!differences.isEmpty()) {
            extensions.put("differences", differences);
        }
        if (!pointers.isEmpty()) {
            extensions.put("pointers", pointers);
        }
        write(request, response, reused.code(), extensions, summary(differences, pointers));
    }

    private List<String> pointers(HttpServletRequest request, Fingerprint given, Fingerprint stored) {
        String key = request instanceof CachedRequest ? headerKey.read(request) : null;
        return key != null && request instanceof CachedRequest cached
                ? RequestFingerprint.pointers(given, stored, key, cached.body())
                : List.of();
    }

    private static String summary(List<String> differences, List<String> pointers) {
        // The pointer to the whole body is an empty text.
        String members = pointers.stream().filter(each -> !each.isEmpty()).collect(Collectors.joining(", "));
        String parts = String.join(", ", differences);
        return members.isEmpty() ? parts : parts + " (" + members + ")";
    }

    void writeNotReplayable(HttpServletRequest request, HttpServletResponse response, @Nullable StoredResponse known)
            throws IOException {
        if (known == null) {
            write(request, response, ProblemCode.RESULT_NOT_REPLAYABLE, Map.of());
            return;
        }
        String location = known.header("Location");
        if (location != null) {
            response.setHeader("Location", location);
        }
        write(request, response, ProblemCode.RESULT_NOT_REPLAYABLE, Map.of("originalStatus", known.status()));
    }

    /** A 500 whose detail is for the developer: what the handler did cannot be protected. */
    void writeUnsupported(HttpServletResponse response, String detail) throws IOException {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("type", "about:blank");
        members.put("title", "Internal Server Error");
        members.put("status", 500);
        members.put("detail", detail);
        write(response, 500, members);
    }

    private void write(
            HttpServletRequest request, HttpServletResponse response, ProblemCode code, Map<String, Object> extensions)
            throws IOException {
        write(request, response, code, extensions, "");
    }

    private void write(
            HttpServletRequest request,
            HttpServletResponse response,
            ProblemCode code,
            Map<String, Object> extensions,
            String differences)
            throws IOException {
        ProblemTexts.Text text = texts.of(code, request, arguments(differences));
        Map<String, Object> members = members(code, text);
        members.putAll(extensions);
        response.setHeader("Content-Language", text.locale().toLanguageTag());
        write(response, statusOf(code), members);
    }

    /** What a client gets to see, in English. */
    Map<String, Object> example(ProblemCode code) {
        return members(code, texts.inEnglish(code, arguments("")));
    }

    private Object[] arguments(String differences) {
        return new Object[] {
            settings.header(),
            Long.toString(settings.maxRequestSize().toBytes()),
            differences,
            differences.isEmpty() ? 0 : 1
        };
    }

    private Map<String, Object> members(ProblemCode code, ProblemTexts.Text text) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("type", settings.problemTypeBase() + code.code());
        members.put("title", text.title());
        members.put("status", statusOf(code));
        members.put("detail", text.detail());
        members.put("code", code.code());
        return members;
    }

    private static void write(HttpServletResponse response, int status, Map<String, Object> members)
            throws IOException {
        byte[] body = JsonText.object(members).getBytes(StandardCharsets.UTF_8);
        response.setStatus(status);
        response.setContentType("application/problem+json");
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    static boolean mayTellWhenToRetry(ProblemCode code) {
        return switch (code) {
            case IN_PROGRESS, DUPLICATE_REJECTED, STORE_UNAVAILABLE -> true;
            default -> false;
        };
    }

    // A hint rounded down is never longer than the lease that it was taken from; the rest of a retention must be
    // over, so it is rounded up.
    private static void setRetryAfter(HttpServletResponse response, IdempotencyException refusal) {
        if (refusal instanceof OperationInProgressException busy) {
            setRetryAfter(response, busy.retryAfter().toSeconds());
        } else if (refusal instanceof DuplicateRejectedException rejected) {
            setRetryAfter(response, roundedUp(rejected.retryAfter()));
        } else if (refusal.code() == ProblemCode.STORE_UNAVAILABLE) {
            setRetryAfter(response, 1);
        }
    }

    private static long roundedUp(Duration duration) {
        return duration.plusSeconds(1).minusNanos(1).toSeconds();
    }

    private static void setRetryAfter(HttpServletResponse response, long seconds) {
        response.setHeader("Retry-After", Long.toString(Math.max(1, seconds)));
    }
}
