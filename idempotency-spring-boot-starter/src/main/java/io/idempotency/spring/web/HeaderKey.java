package io.idempotency.spring.web;

import io.idempotency.InvalidIdempotencyKeyException;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Enumeration;
import org.jspecify.annotations.Nullable;

/**
 * Reads the key of a request from its header: a string of RFC 9651 ({@code "abc"}) or the same without quotes ({@code abc}).
 * Parameters are ignored. What could be taken for two keys, or for another key than the client meant, is refused.
 */
final class HeaderKey {

    static final int LONGEST = 255;

    private final String header;

    HeaderKey(String header) {
        this.header = header;
    }

    /** The key; null if the request has none. */
    @Nullable
    String read(HttpServletRequest request) {
        Enumeration<String> values = request.getHeaders(header);
        if (values == null || !values.hasMoreElements()) {
            return null;
        }
        String value = values.nextElement();
        if (values.hasMoreElements()) {
            throw invalid("was sent more than once");
        }
        return new Parser(value.strip()).parse();
    }

    private InvalidIdempotencyKeyException invalid(String reason) {
        return new InvalidIdempotencyKeyException("The key in the header " + header + " " + reason);
    }

    private final class Parser {

        private final String value;
        private int position;

        Parser(String value) {
            this.value = value;
        }

        String parse() {
            String key = at('"') ? string() : bare();
            parameters();
            if (key.isEmpty()) {
                throw invalid("is blank");
            }
            if (key.length() > LONGEST) {
                throw invalid("is longer than " + LONGEST + " characters");
            }
            if (!key.chars().allMatch(each -> each > 0x20 && each < 0x7f)) {
                throw invalid("has characters that are not visible ASCII");
            }
            return key;
        }

        private String string() {
            StringBuilder text = new StringBuilder(value.length());
            position++;
            while (position < value.length()) {
                char each = value.charAt(position++);
                if (each == '"') {
                    return text.toString();
                }
                if (each == '\\') {
                    each = escaped();
                }
                text.append(each);
            }
            throw invalid("has no quote at its end");
        }

        private char escaped() {
            char each = position < value.length() ? value.charAt(position++) : 0;
            if (each != '"' && each != '\\') {
                throw invalid("has an escape other than \\\" and \\\\");
            }
            return each;
        }

        // A quote or a comma would read as a string or a list to whoever takes the header for what RFC 9651 says.
        private String bare() {
            int start = position;
            while (position < value.length() && !at(';')) {
                if (at('"') || at(',')) {
                    throw invalid("has a quote or a comma and is not quoted");
                }
                position++;
            }
            return value.substring(start, position).stripTrailing();
        }

        private void parameters() {
            skipSpaces();
            while (position < value.length()) {
                if (!at(';')) {
                    throw invalid("is followed by something that is not a parameter");
                }
                position++;
                skipSpaces();
                parameter();
                skipSpaces();
            }
        }

        private void parameter() {
            int start = position;
            while (position < value.length() && isParameterKey(value.charAt(position), position == start)) {
                position++;
            }
            if (position == start) {
                throw invalid("is followed by a semicolon and no parameter");
            }
            if (at('=')) {
                position++;
                parameterValue();
            }
        }

        private void parameterValue() {
            if (at('"')) {
                string();
                return;
            }
            int start = position;
            while (position < value.length() && !at(';') && !at(' ') && !at('"') && !at(',')) {
                position++;
            }
            if (position == start) {
                throw invalid("is followed by a parameter without a value");
            }
        }

        private static boolean isParameterKey(char each, boolean first) {
            if ((each >= 'a' && each <= 'z') || each == '*') {
                return true;
            }
            return !first && ((each >= '0' && each <= '9') || "_-.".indexOf(each) >= 0);
        }

        private void skipSpaces() {
            while (at(' ') || at('\t')) {
                position++;
            }
        }

        private boolean at(char wanted) {
            return position < value.length() && value.charAt(position) == wanted;
        }
    }
}
