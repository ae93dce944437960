package io.idempotency.spring.web;

import java.io.ByteArrayOutputStream;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The pairs of a query or of a form body, as bytes: what they mean as text depends on the encoding of the request. */
final class FormPairs {

    private static final Comparator<Pair> BY_NAME = (one, other) -> Arrays.compare(one.name, other.name);

    private final List<Pair> pairs;

    private FormPairs(List<Pair> pairs) {
        this.pairs = pairs;
    }

    static FormPairs parse(@Nullable String query) {
        return query == null ? new FormPairs(List.of()) : parse(query.getBytes(StandardCharsets.UTF_8));
    }

    static FormPairs parse(byte[] encoded) {
        List<Pair> pairs = new ArrayList<>();
        int start = 0;
        for (int i = 0; i <= encoded.length; i++) {
            if (i == encoded.length || encoded[i] == '&') {
                if (i > start) {
                    pairs.add(pair(encoded, start, i));
                }
                start = i + 1;
            }
        }
        return new FormPairs(pairs);
    }

    /** Whether there are more separators than that; costs no memory. */
    static boolean mayHaveMoreThan(int pairs, byte[] encoded) {
        int separators = 0;
        for (byte each : encoded) {
            if (each == '&' && ++separators >= pairs) {
                return true;
            }
        }
        return false;
    }

    private static Pair pair(byte[] encoded, int start, int end) {
        int equals = start;
        while (equals < end && encoded[equals] != '=') {
            equals++;
        }
        return new Pair(decoded(encoded, start, equals), decoded(encoded, Math.min(equals + 1, end), end));
    }

    private static byte[] decoded(byte[] encoded, int start, int end) {
        ByteArrayOutputStream decoded = new ByteArrayOutputStream(end - start);
        for (int i = start; i < end; i++) {
            int high = encoded[i] == '%' && i + 2 < end ? Character.digit(encoded[i + 1], 16) : -1;
            int low = high < 0 ? -1 : Character.digit(encoded[i + 2], 16);
            if (low >= 0) {
                decoded.write(high * 16 + low);
                i += 2;
            } else {
                decoded.write(encoded[i] == '+' ? ' ' : encoded[i]);
            }
        }
        return decoded.toByteArray();
    }

    /** What {@code getParameterMap} of a form has beyond the query, as pairs. */
    static FormPairs beyondQuery(Map<String, String[]> parameters, @Nullable String query, Charset charset) {
        Map<String, List<String>> inQuery = parse(query).asText(charset);
        List<Pair> pairs = new ArrayList<>();
        parameters.forEach((name, values) -> {
            int first = inQuery.getOrDefault(name, List.of()).size();
            for (int i = first; i < values.length; i++) {
                pairs.add(new Pair(name.getBytes(charset), values[i].getBytes(charset)));
            }
        });
        return new FormPairs(pairs);
    }

    Map<String, List<String>> asText(Charset charset) {
        Map<String, List<String>> values = new LinkedHashMap<>();
        for (Pair pair : pairs) {
            values.computeIfAbsent(new String(pair.name, charset), name -> new ArrayList<>())
                    .add(new String(pair.value, charset));
        }
        return values;
    }

    /** A form body that means the same. */
    byte[] encoded(Charset charset) {
        StringBuilder body = new StringBuilder();
        for (Pair pair : pairs) {
            body.append(body.isEmpty() ? "" : "&")
                    .append(URLEncoder.encode(new String(pair.name, charset), charset))
                    .append('=')
                    .append(URLEncoder.encode(new String(pair.value, charset), charset));
        }
        return body.toString().getBytes(StandardCharsets.US_ASCII);
    }

    boolean isEmpty() {
        return pairs.isEmpty();
    }

    /** The pairs ordered by name, values of one name in their order, each with its length in front. */
    byte[] canonical() {
        ByteArrayOutputStream canonical = new ByteArrayOutputStream();
        pairs.stream().sorted(BY_NAME).forEach(pair -> {
            write(canonical, pair.name);
            write(canonical, pair.value);
        });
        return canonical.toByteArray();
    }

    private static void write(ByteArrayOutputStream out, byte[] part) {
        out.writeBytes(ByteBuffer.allocate(4).putInt(part.length).array());
        out.writeBytes(part);
    }

    private static final class Pair {

        private final byte[] name;
        private final byte[] value;

        Pair(byte[] name, byte[] value) {
            this.name = name;
            this.value = value;
        }
    }
}
