package io.idempotency.spi;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * What a finished attempt left for its duplicates. Stores keep {@link #toBytes()} and never look inside.
 *
 * <pre>
 * version (1) | kind (1) | format length (1) | format | transformer length (1) | transformer | payload length (4) | payload | CRC-32C (4)
 * </pre>
 *
 * @since 0.1.0
 */
public final class StoredResult {

    private static final byte VERSION = 1;

    private final Kind kind;
    private final String format;
    private final String transformer;
    private final byte[] payload;

    private StoredResult(Kind kind, String format, String transformer, byte[] payload) {
        this.kind = kind;
        this.format = format;
        this.transformer = transformer;
        this.payload = payload;
    }

    /** A value that duplicates get. */
    public static StoredResult value(String format, byte[] payload) {
        return new StoredResult(Kind.VALUE, checked(format), "", payload.clone());
    }

    /** A terminal failure that duplicates get. */
    public static StoredResult failure(String format, byte[] payload) {
        return new StoredResult(Kind.FAILURE, checked(format), "", payload.clone());
    }

    /** Only the fact that the work was done, with what little is known about it. */
    public static StoredResult notReplayable(String format, byte[] payload) {
        return new StoredResult(Kind.NOT_REPLAYABLE, checked(format), "", payload.clone());
    }

    /** The same result with its payload replaced by what the named {@link ResultTransformer} made of it. */
    public StoredResult transformed(String transformerId, byte[] transformedPayload) {
        return new StoredResult(kind, format, checked(transformerId), transformedPayload.clone());
    }

    private static String checked(String id) {
        if (id.length() > 64 || !StandardCharsets.US_ASCII.newEncoder().canEncode(id)) {
            throw new IllegalArgumentException(
                    "The id of a format or a transformer has at most 64 ASCII characters: " + id);
        }
        return id;
    }

    /** What it is. */
    public Kind kind() {
        return kind;
    }

    /** Id of the codec that wrote the payload. */
    public String format() {
        return format;
    }

    /** Id of the transformer that the payload went through; empty for none. */
    public String transformer() {
        return transformer;
    }

    /** A copy of the payload. */
    public byte[] payload() {
        return payload.clone();
    }

    /** The form that stores keep. */
    public byte[] toBytes() {
        byte[] formatBytes = format.getBytes(StandardCharsets.US_ASCII);
        byte[] transformerBytes = transformer.getBytes(StandardCharsets.US_ASCII);
        ByteBuffer buffer = ByteBuffer.allocate(12 + formatBytes.length + transformerBytes.length + payload.length);
        buffer.put(VERSION).put((byte) kind.ordinal());
        buffer.put((byte) formatBytes.length).put(formatBytes);
        buffer.put((byte) transformerBytes.length).put(transformerBytes);
        buffer.putInt(payload.length).put(payload);
        return buffer.putInt(checksum(buffer.array(), buffer.position())).array();
    }

    /**
     * Reads the stored form back.
     *
     * @throws IllegalArgumentException if the bytes are truncated, altered or of an unknown version; the message says which and
     *     contains no stored data
     */
    public static StoredResult fromBytes(byte[] bytes) {
        try {
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            byte version = buffer.get();
            if (version != VERSION) {
                throw new IllegalArgumentException("stored result of unknown version " + version);
            }
            int kind = buffer.get();
            String format = text(buffer);
            String transformer = text(buffer);
            byte[] payload = take(buffer, buffer.getInt());
            int end = buffer.position();
            if (buffer.getInt() != checksum(bytes, end)
                    || buffer.hasRemaining()
                    || kind < 0
                    || kind >= Kind.values().length) {
                throw new IllegalArgumentException("stored result does not match its checksum");
            }
            return new StoredResult(Kind.values()[kind], format, transformer, payload);
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("stored result is truncated", e);
        }
    }

    private static String text(ByteBuffer buffer) {
        return new String(take(buffer, Byte.toUnsignedInt(buffer.get())), StandardCharsets.US_ASCII);
    }

    private static byte[] take(ByteBuffer buffer, int length) {
        if (length < 0 || length > buffer.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] taken = new byte[length];
        buffer.get(taken);
        return taken;
    }

    private static int checksum(byte[] bytes, int end) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, end);
        return (int) crc.getValue();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StoredResult that
                && kind == that.kind
                && format.equals(that.format)
                && transformer.equals(that.transformer)
                && Arrays.equals(payload, that.payload);
    }

    @Override
    public int hashCode() {
        return 31 * kind.hashCode() + Arrays.hashCode(payload);
    }

    @Override
    public String toString() {
        return kind + " in " + format + ", " + payload.length + " bytes";
    }

    /** What a stored result is. The order is part of the stored form. */
    public enum Kind {
        /** A value. */
        VALUE,
        /** A terminal failure. */
        FAILURE,
        /** The bare fact. */
        NOT_REPLAYABLE
    }
}
