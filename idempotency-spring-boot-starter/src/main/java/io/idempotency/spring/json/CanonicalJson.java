package io.idempotency.spring.json;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Reads JSON strictly (RFC 8259, UTF-8) and writes it in a form that is equal for equal values: members by name, numbers by value,
 * strings by their characters. The form is only ever digested.
 *
 * @since 0.1.0
 */
public final class CanonicalJson {

    private static final int DEEPEST = 256;
    private static final int SHORT = 64;

    private final CharBuffer in;
    private final Visitor visitor;
    private final StringBuilder pointer = new StringBuilder();

    private CanonicalJson(CharBuffer in, Visitor visitor) {
        this.in = in;
        this.visitor = visitor;
    }

    /** The canonical form; empty if the bytes are not JSON, name a member twice, or go beyond what can be compared by value. */
    public static Optional<byte[]> of(byte[] json) {
        return of(json, (pointer, form) -> {});
    }

    /** The same, with the visitor shown every value of it. Nothing that it was shown counts where the result is empty. */
    public static Optional<byte[]> of(byte[] json, Visitor visitor) {
        try {
            CanonicalJson reader =
                    new CanonicalJson(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(json)), visitor);
            ByteArrayOutputStream out = new ByteArrayOutputStream(json.length);
            reader.value(out, 0);
            reader.skipWhiteSpace();
            return reader.in.hasRemaining() ? Optional.empty() : Optional.of(out.toByteArray());
        } catch (CharacterCodingException | NotComparable e) {
            return Optional.empty();
        }
    }

    private void value(ByteArrayOutputStream out, int depth) throws NotComparable {
        if (depth > DEEPEST) {
            throw new NotComparable();
        }
        skipWhiteSpace();
        switch (peek()) {
            case '{' -> object(out, depth);
            case '[' -> array(out, depth);
            case '"' -> scalar(out, 's', string());
            case 't' -> word(out, "true");
            case 'f' -> word(out, "false");
            case 'n' -> word(out, "null");
            default -> scalar(out, 'd', number());
        }
    }

    private void scalar(ByteArrayOutputStream out, char type, String text) {
        ByteArrayOutputStream form = new ByteArrayOutputStream();
        form.write(type);
        write(form, text);
        visitor.value(pointer, form.toByteArray());
        out.writeBytes(form.toByteArray());
    }

    private void object(ByteArrayOutputStream out, int depth) throws NotComparable {
        TreeMap<String, byte[]> members = new TreeMap<>();
        expect('{');
        skipWhiteSpace();
        if (peek() != '}') {
            do {
                skipWhiteSpace();
                String name = string();
                skipWhiteSpace();
                expect(':');
                ByteArrayOutputStream member = new ByteArrayOutputStream();
                valueAt(name, member, depth + 1);
                if (members.put(name, shortened(member.toByteArray())) != null) {
                    throw new NotComparable();
                }
                skipWhiteSpace();
            } while (accept(','));
        }
        expect('}');
        out.write('o');
        writeLength(out, members.size());
        ByteArrayOutputStream names = new ByteArrayOutputStream();
        names.write('o');
        members.forEach((name, member) -> {
            write(names, name);
            write(out, name);
            out.writeBytes(member);
        });
        visitor.value(pointer, names.toByteArray());
    }

    private void valueAt(String step, ByteArrayOutputStream out, int depth) throws NotComparable {
        int length = pointer.length();
        pointer.append('/').append(step.replace("~", "~0").replace("/", "~1"));
        value(out, depth);
        pointer.setLength(length);
    }

    // A member is copied into its object, so a long one is represented by its digest: nesting would copy it again and
    // again.
    private static byte[] shortened(byte[] member) {
        if (member.length <= SHORT) {
            return member;
        }
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(member);
            return ByteBuffer.allocate(1 + digest.length)
                    .put((byte) 'h')
                    .put(digest)
                    .array();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is part of every Java platform", e);
        }
    }

    private void array(ByteArrayOutputStream out, int depth) throws NotComparable {
        out.write('a');
        expect('[');
        skipWhiteSpace();
        int length = 0;
        if (peek() != ']') {
            do {
                valueAt(Integer.toString(length), out, depth + 1);
                length++;
                skipWhiteSpace();
            } while (accept(','));
        }
        expect(']');
        out.write('e');
        visitor.value(
                pointer, ByteBuffer.allocate(5).put((byte) 'a').putInt(length).array());
    }

    private void word(ByteArrayOutputStream out, String word) throws NotComparable {
        for (int i = 0; i < word.length(); i++) {
            expect(word.charAt(i));
        }
        out.write(word.charAt(0));
        visitor.value(pointer, new byte[] {(byte) word.charAt(0)});
    }

    private String string() throws NotComparable {
        expect('"');
        StringBuilder text = new StringBuilder();
        while (true) {
            char each = next();
            if (each == '"') {
                return text.toString();
            }
            if (each < 0x20) {
                throw new NotComparable();
            }
            text.append(each == '\\' ? escaped() : each);
        }
    }

    private char escaped() throws NotComparable {
        char each = next();
        return switch (each) {
            case '"', '\\', '/' -> each;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> codeUnit();
            default -> throw new NotComparable();
        };
    }

    private char codeUnit() throws NotComparable {
        int unit = 0;
        for (int i = 0; i < 4; i++) {
            char each = next();
            int digit = each < 0x80 ? Character.digit(each, 16) : -1;
            if (digit < 0) {
                throw new NotComparable();
            }
            unit = unit * 16 + digit;
        }
        return (char) unit;
    }

    // Digits without zeros at either end and the exponent of the last one: BigDecimal would take quadratic time for
    // long numbers.
    private String number() throws NotComparable {
        boolean negative = accept('-');
        StringBuilder digits = new StringBuilder();
        if (peek() == '0') {
            next();
        } else {
            digits(digits);
        }
        long exponent = 0;
        if (accept('.')) {
            int before = digits.length();
            digits(digits);
            exponent = (long) before - digits.length();
        }
        if (accept('e') || accept('E')) {
            exponent += exponent();
        }
        return normalized(negative, digits, exponent);
    }

    private void digits(StringBuilder digits) throws NotComparable {
        int before = digits.length();
        while (in.hasRemaining() && isDigit(peek())) {
            digits.append(next());
        }
        if (digits.length() == before) {
            throw new NotComparable();
        }
    }

    private long exponent() throws NotComparable {
        boolean negative = accept('-');
        if (!negative) {
            accept('+');
        }
        StringBuilder digits = new StringBuilder();
        digits(digits);
        if (digits.length() > 15) {
            throw new NotComparable();
        }
        long exponent = Long.parseLong(digits.toString());
        return negative ? -exponent : exponent;
    }

    private static String normalized(boolean negative, StringBuilder digits, long exponent) {
        int start = 0;
        while (start < digits.length() && digits.charAt(start) == '0') {
            start++;
        }
        int end = digits.length();
        while (end > start && digits.charAt(end - 1) == '0') {
            end--;
        }
        if (start == end) {
            return "0";
        }
        return (negative ? "-" : "") + digits.substring(start, end) + "e" + (exponent + digits.length() - end);
    }

    private static boolean isDigit(char each) {
        return each >= '0' && each <= '9';
    }

    private void skipWhiteSpace() {
        while (in.hasRemaining() && isWhiteSpace(in.get(in.position()))) {
            in.get();
        }
    }

    private static boolean isWhiteSpace(char each) {
        return each == ' ' || each == '\t' || each == '\n' || each == '\r';
    }

    private char peek() throws NotComparable {
        if (!in.hasRemaining()) {
            throw new NotComparable();
        }
        return in.get(in.position());
    }

    private char next() throws NotComparable {
        char each = peek();
        in.get();
        return each;
    }

    private void expect(char wanted) throws NotComparable {
        if (next() != wanted) {
            throw new NotComparable();
        }
    }

    private boolean accept(char wanted) {
        if (in.hasRemaining() && in.get(in.position()) == wanted) {
            in.get();
            return true;
        }
        return false;
    }

    private static void write(ByteArrayOutputStream out, String text) {
        ByteBuffer units = ByteBuffer.allocate(4 + 2 * text.length()).putInt(text.length());
        text.chars().forEach(each -> units.putChar((char) each));
        out.writeBytes(units.array());
    }

    private static void writeLength(ByteArrayOutputStream out, int length) {
        out.writeBytes(ByteBuffer.allocate(4).putInt(length).array());
    }

    /** Is shown the values of a document. */
    @FunctionalInterface
    public interface Visitor {

        /**
         * Called once for each value; for an object or an array after what is in it.
         *
         * @param pointer to the value (RFC 6901); to be read at once
         * @param form equal for equal values; of an object the names of its members alone, of an array its length
         */
        void value(CharSequence pointer, byte[] form);
    }

    /** The input is not JSON, or two equal values of it might look different. */
    private static final class NotComparable extends Exception {

        private static final long serialVersionUID = 1L;

        NotComparable() {
            super(null, null, false, false);
        }
    }
}
