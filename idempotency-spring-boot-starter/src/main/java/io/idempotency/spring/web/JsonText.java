package io.idempotency.spring.web;

import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes a flat JSON object. */
final class JsonText {

    private JsonText() {}

    static String object(Map<String, Object> members) {
        return members.entrySet().stream()
                .map(member -> string(member.getKey()) + ":" + value(member.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
    }

    private static String value(Object value) {
        if (value instanceof Collection<?> elements) {
            return elements.stream().map(JsonText::value).collect(Collectors.joining(",", "[", "]"));
        }
        return value instanceof Number ? value.toString() : string(value.toString());
    }

    private static String string(String text) {
        StringBuilder json = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char each = text.charAt(i);
            switch (each) {
                case '"' -> json.append("\\\"");
                case '\\' -> json.append("\\\\");
                case '\n' -> json.append("\\n");
                case '\r' -> json.append("\\r");
                case '\t' -> json.append("\\t");
                default -> {
                    // A browser that takes the body for HTML finds no tag in it.
                    if (each < 0x20 || each == '<' || each == '>' || each == '&' || Character.isSurrogate(each)) {
                        json.append(String.format("\\u%04x", (int) each));
                    } else {
                        json.append(each);
                    }
                }
            }
        }
        return json.append('"').toString();
    }
}
