package io.idempotency.support;

import io.idempotency.spi.ResultCodec;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Results of methods that return nothing: declared {@code void} or {@code Void}.
 *
 * @since 0.1.0
 */
public final class VoidResultCodec implements ResultCodec {

    @Override
    public String id() {
        return "void";
    }

    @Override
    public boolean supports(Type type) {
        return type == void.class || type == Void.class;
    }

    @Override
    public byte[] encode(@Nullable Object value, Type type) {
        return new byte[0];
    }

    @Override
    public @Nullable Object decode(byte[] payload, Type type) {
        if (payload.length != 0) {
            throw new IllegalArgumentException("Nothing was to be stored, and something is");
        }
        return null;
    }
}
