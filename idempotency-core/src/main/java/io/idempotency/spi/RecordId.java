package io.idempotency.spi;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Identity of a record: SHA-256 over the length-prefixed operation, scope and key. Two triples that differ in anything (case, white
 * space, Unicode form, the place where one part ends) have different ids.
 *
 * @since 0.1.0
 */
public final class RecordId {

    /** Length of an id in bytes. */
    public static final int LENGTH = 32;

    private final byte[] bytes;

    private RecordId(byte[] bytes) {
        this.bytes = bytes;
    }

    /** The id of a key in a scope of an operation. */
    public static RecordId of(String operation, String scope, String key) {
        ByteBuffer input = ByteBuffer.allocate(12 + 2 * (operation.length() + scope.length() + key.length()));
        put(input, operation);
        put(input, scope);
        put(input, key);
        try {
            return new RecordId(MessageDigest.getInstance("SHA-256").digest(input.array()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is part of every Java platform", e);
        }
    }

    /** An id read back from a store. */
    public static RecordId ofBytes(byte[] bytes) {
        if (bytes.length != LENGTH) {
            throw new IllegalArgumentException("A record id has " + LENGTH + " bytes, not " + bytes.length);
        }
        return new RecordId(bytes.clone());
    }

    // UTF-16 code units, because an encoder would map every unpaired surrogate to the same replacement.
    private static void put(ByteBuffer buffer, String part) {
        buffer.putInt(part.length());
        for (int i = 0; i < part.length(); i++) {
            buffer.putChar(part.charAt(i));
        }
    }

    /** A copy of the 32 bytes. */
    public byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RecordId that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return ByteBuffer.wrap(bytes).getInt();
    }

    /** The first eight hex digits: the only form of a key that appears in logs and messages. */
    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes, 0, 4);
    }
}
