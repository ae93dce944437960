package io.idempotency.support;

import io.idempotency.spi.ResultCodec;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Results declared as {@code String}: one byte that tells the form, then the text. {@code null} comes back as {@code null}, and every
 * text comes back as it was, unpaired surrogates included.
 *
 * @since 0.1.0
 */
public final class StringResultCodec implements ResultCodec {

    private static final byte NULL = 0;
    private static final byte UTF_8 = 1;
    private static final byte UTF_16 = 2;

    @Override
    public String id() {
        return "string";
    }

    @Override
    public boolean supports(Type type) {
        return type == String.class;
    }

    @Override
    public byte[] encode(@Nullable Object value, Type type) {
        if (value == null) {
            return new byte[] {NULL};
        }
        String text = (String) value;
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            return ByteBuffer.allocate(1 + encoded.remaining())
                    .put(UTF_8)
                    .put(encoded)
                    .array();
        } catch (CharacterCodingException e) {
            // An unpaired surrogate: UTF-8 has no form for it.
            ByteBuffer units = ByteBuffer.allocate(1 + 2 * text.length()).put(UTF_16);
            text.chars().forEach(unit -> units.putChar((char) unit));
            return units.array();
        }
    }

    @Override
    public @Nullable Object decode(byte[] payload, Type type) {
        ByteBuffer buffer = ByteBuffer.wrap(payload);
        byte form = payload.length == 0 ? -1 : buffer.get();
        if (form == NULL && !buffer.hasRemaining()) {
            return null;
        }
        if (form == UTF_16 && buffer.remaining() % 2 == 0) {
            return buffer.asCharBuffer().toString();
        }
        if (form == UTF_8) {
            try {
                return StandardCharsets.UTF_8.newDecoder().decode(buffer).toString();
            } catch (CharacterCodingException e) {
                throw new IllegalArgumentException("The stored text is not UTF-8", e);
            }
        }
        throw new IllegalArgumentException("The stored text is of an unknown form");
    }
}
