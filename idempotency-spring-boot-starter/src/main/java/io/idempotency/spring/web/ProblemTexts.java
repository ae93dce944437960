package io.idempotency.spring.web;

import io.idempotency.ProblemCode;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.context.MessageSource;
import org.springframework.context.support.ResourceBundleMessageSource;

/** Words a problem in the language that the client prefers, of those that there are. */
final class ProblemTexts {

    static final String PREFIX = "idempotency.problem.";

    private static final Set<String> SHIPPED_LANGUAGES = Set.of("en", "zh");

    private final @Nullable MessageSource application;
    private final MessageSource shipped = shipped();

    ProblemTexts(@Nullable MessageSource application) {
        this.application = application;
    }

    static MessageSource shipped() {
        ResourceBundleMessageSource messages = new ResourceBundleMessageSource();
        messages.setBasename("io.idempotency.spring.web.messages");
        messages.setBundleClassLoader(ProblemTexts.class.getClassLoader());
        messages.setDefaultEncoding(StandardCharsets.UTF_8.name());
        messages.setFallbackToSystemLocale(false);
        // Without it a text without arguments keeps its doubled apostrophes.
        messages.setAlwaysUseMessageFormat(true);
        return messages;
    }

    Text of(ProblemCode code, HttpServletRequest request, Object... arguments) {
        for (Locale locale : acceptedBy(request)) {
            Text text = find(code, arguments, locale);
            if (text != null) {
                return text;
            }
        }
        return inEnglish(code, arguments);
    }

    Text inEnglish(ProblemCode code, Object... arguments) {
        Text english = find(code, arguments, Locale.ENGLISH);
        if (english == null) {
            throw new IllegalStateException("No English text for the problem " + code.code());
        }
        return english;
    }

    // Without the header the servlet API answers with the locale of the machine, which is not the client's.
    private static List<Locale> acceptedBy(HttpServletRequest request) {
        return request.getHeader("Accept-Language") == null ? List.of() : Collections.list(request.getLocales());
    }

    private @Nullable Text find(ProblemCode code, Object[] arguments, Locale locale) {
        String title = find(PREFIX + code.code() + ".title", arguments, locale);
        String detail = find(PREFIX + code.code() + ".detail", arguments, locale);
        return title == null || detail == null ? null : new Text(title, detail, locale);
    }

    private @Nullable String find(String key, Object[] arguments, Locale locale) {
        String own = application == null ? null : application.getMessage(key, arguments, null, locale);
        if (own != null || !SHIPPED_LANGUAGES.contains(locale.getLanguage())) {
            return own;
        }
        return shipped.getMessage(key, arguments, null, locale);
    }

    /** A worded problem. */
    record Text(String title, String detail, Locale locale) {}
}
