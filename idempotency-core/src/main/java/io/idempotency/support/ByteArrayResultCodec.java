package io.idempotency.support;

import io.idempotency.spi.ResultCodec;
import java.lang.reflect.Type;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Results declared as {@code byte[]}: one byte that tells {@code null} from an array, then the bytes.
 *
 * @since 0.1.0
 */
public final class ByteArrayResultCodec implements ResultCodec {

    private static final byte NULL = 0;
    private static final byte BYTES = 1;

    @Override
    public String id() {
        return "bytes";
    }

    @Override
    public boolean supports(Type type) {
        return type == byte[].class;
    }

    @Override
    public byte[] encode(@Nullable Object value, Type type) {
        if (value == null) {
            return new byte[] {NULL};
        }
        byte[] bytes = (byte[]) value;
        byte[] payload = new byte[1 + bytes.length];
        payload[0] = BYTES;
        System.arraycopy(bytes, 0, payload, 1, bytes.length);
        return payload;
    }

    @Override
    public @Nullable Object decode(byte[] payload, Type type) {
        if (payload.length == 1 && payload[0] == NULL) {
            return null;
        }
        if (payload.length == 0 || payload[0] != BYTES) {
            throw new IllegalArgumentException("The stored bytes are of an unknown form");
        }
        return Arrays.copyOfRange(payload, 1, payload.length);
    }
}
