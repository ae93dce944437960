package io.idempotency.spring.web;

import io.idempotency.spi.StoredResult;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A response as it is stored, in the format {@code http/1}:
 *
 * <pre>
 * version (1) | form (1) | status (2) | text | content type | number of headers (2) | { name | value } | body
 * </pre>
 *
 * Text, names, values and the body have their length (4) in front; a length of -1 stands for an absent one.
 */
final class StoredResponse {

    static final String FORMAT = "http/1";

    private static final byte VERSION = 1;

    private final Form form;
    private final int status;
    private final @Nullable String text;
    private final @Nullable String contentType;
    private final List<Header> headers;
    private final byte[] body;

    StoredResponse(
            Form form,
            int status,
            @Nullable String text,
            @Nullable String contentType,
            List<Header> headers,
            byte[] body) {
        this.form = form;
        this.status = status;
        this.text = text;
        this.contentType = contentType;
        this.headers = List.copyOf(headers);
        this.body = body;
    }

    Form form() {
        return form;
    }

    int status() {
        return status;
    }

    /** The message of an error, the location of a redirect. */
    @Nullable
    String text() {
        return text;
    }

    @Nullable
    String contentType() {
        return contentType;
    }

    List<Header> headers() {
        return headers;
    }

    @Nullable
    String header(String name) {
        if (form == Form.REDIRECT && name.equalsIgnoreCase("Location")) {
            return text;
        }
        return headers.stream()
                .filter(header -> header.name().equalsIgnoreCase(name))
                .map(Header::value)
                .findFirst()
                .orElse(null);
    }

    byte[] body() {
        return body;
    }

    StoredResult asValue() {
        return StoredResult.value(FORMAT, toBytes());
    }

    StoredResult asNotReplayable() {
        return StoredResult.notReplayable(FORMAT, toBytes());
    }

    private byte[] toBytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(128 + body.length);
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeByte(form.ordinal());
            out.writeShort(status);
            write(out, text);
            write(out, contentType);
            out.writeShort(headers.size());
            for (Header header : headers) {
                write(out, header.name());
                write(out, header.value());
            }
            out.writeInt(body.length);
            out.write(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void write(DataOutputStream out, @Nullable String text) throws IOException {
        if (text == null) {
            out.writeInt(-1);
            return;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /**
     * Reads the stored form back.
     *
     * @throws IllegalArgumentException if it is not one; the message contains no stored data
     */
    static StoredResponse read(StoredResult stored) {
        if (!stored.format().equals(FORMAT)) {
            throw new IllegalArgumentException("a response in the unknown format '" + stored.format() + "'");
        }
        try {
            ByteBuffer in = ByteBuffer.wrap(stored.payload());
            byte version = in.get();
            if (version != VERSION) {
                throw new IllegalArgumentException("a response of the unknown version " + version);
            }
            return read(in);
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("a response that is truncated", e);
        }
    }

    private static StoredResponse read(ByteBuffer in) {
        int form = in.get();
        int status = in.getShort();
        String text = readText(in);
        String contentType = readText(in);
        List<Header> headers = new ArrayList<>();
        for (int left = in.getShort(); left > 0; left--) {
            headers.add(new Header(readRequired(in), readRequired(in)));
        }
        byte[] body = take(in, in.getInt());
        if (form < 0 || form >= Form.values().length || status < 100 || status > 999 || in.hasRemaining()) {
            throw new IllegalArgumentException("a response with impossible values");
        }
        return new StoredResponse(Form.values()[form], status, text, contentType, headers, body);
    }

    private static @Nullable String readText(ByteBuffer in) {
        int length = in.getInt();
        return length == -1 ? null : new String(take(in, length), StandardCharsets.UTF_8);
    }

    private static String readRequired(ByteBuffer in) {
        String text = readText(in);
        if (text == null || text.chars().anyMatch(each -> each < 0x20 && each != '\t')) {
            throw new IllegalArgumentException("a response with an impossible header");
        }
        return text;
    }

    private static byte[] take(ByteBuffer in, int length) {
        if (length < 0 || length > in.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] taken = new byte[length];
        in.get(taken);
        return taken;
    }

    /** How the response was made. The order is part of the stored form. */
    enum Form {
        /** By its status, headers and body. */
        PLAIN,
        /** By {@code sendError}: the container renders the body. */
        ERROR,
        /** By {@code sendRedirect}. */
        REDIRECT
    }

    /** A header. */
    record Header(String name, String value) {}
}
