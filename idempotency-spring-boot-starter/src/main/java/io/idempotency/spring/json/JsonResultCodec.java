package io.idempotency.spring.json;

import io.idempotency.spi.ResultCodec;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Results as JSON of their declared types. {@code null} is an empty payload, so that it differs from an empty optional.
 *
 * @since 0.1.0
 */
public final class JsonResultCodec implements ResultCodec {

    private final JsonValues values;

    public JsonResultCodec(JsonValues values) {
        this.values = values;
    }

    @Override
    public String id() {
        return "json/1";
    }

    @Override
    public boolean supports(Type type) {
        return ResultTypes.objectionTo(type) == null;
    }

    @Override
    public byte[] encode(@Nullable Object value, Type type) {
        if (value == null) {
            return new byte[0];
        }
        try {
            return values.write(value, type);
        } catch (StackOverflowError e) {
            throw new IllegalArgumentException("A value of " + type.getTypeName() + " is nested without end", e);
        }
    }

    @Override
    public @Nullable Object decode(byte[] payload, Type type) {
        return payload.length == 0 ? null : values.read(payload, type);
    }
}
