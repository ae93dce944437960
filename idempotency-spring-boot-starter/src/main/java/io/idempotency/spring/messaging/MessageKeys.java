package io.idempotency.spring.messaging;

import io.idempotency.spring.aop.KeyText;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Finds the key of a message in its headers: the key header, then the identity of a CloudEvent. */
final class MessageKeys {

    private static final List<String> CLOUD_EVENT_PREFIXES =
            List.of("ce_", "ce-", "cloudEvents:", "cloudEvents_", "cloudevents:", "cloudevents_");

    private MessageKeys() {}

    /** @return null if there is none; a blank one is none */
    static @Nullable String of(String keyHeader, Function<String, @Nullable Object> headers) {
        String key = text(headers.apply(keyHeader));
        if (key != null) {
            return key;
        }
        for (String prefix : CLOUD_EVENT_PREFIXES) {
            String id = text(headers.apply(prefix + "id"));
            String source = text(headers.apply(prefix + "source"));
            if (id != null && source != null) {
                return KeyText.of(List.of(source, id));
            }
        }
        return null;
    }

    static @Nullable String text(@Nullable Object value) {
        String text = value instanceof byte[] bytes
                ? new String(bytes, StandardCharsets.UTF_8)
                : value == null ? "" : value.toString();
        return text.isBlank() ? null : text;
    }
}
