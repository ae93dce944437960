package io.idempotency.engine;

import io.idempotency.ReplayedFailureException;
import io.idempotency.spi.StoredResult;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The stored form of a terminal failure: type name and message, each with its length in front. */
final class FailureFormat {

    private static final String ID = "failure/1";
    private static final int LONGEST_MESSAGE = 4000;

    private FailureFormat() {}

    static StoredResult write(Throwable failure) {
        byte[] type = failure.getClass().getName().getBytes(StandardCharsets.UTF_8);
        String text = String.valueOf(failure.getMessage());
        byte[] message =
                text.substring(0, Math.min(text.length(), LONGEST_MESSAGE)).getBytes(StandardCharsets.UTF_8);
        ByteBuffer buffer = ByteBuffer.allocate(8 + type.length + message.length);
        buffer.putInt(type.length).put(type).putInt(message.length).put(message);
        return StoredResult.failure(ID, buffer.array());
    }

    static ReplayedFailureException read(StoredResult stored) {
        if (!stored.format().equals(ID)) {
            throw new IllegalArgumentException("failure in the unknown format '" + stored.format() + "'");
        }
        try {
            ByteBuffer buffer = ByteBuffer.wrap(stored.payload());
            return new ReplayedFailureException(text(buffer), text(buffer));
        } catch (BufferUnderflowException | NegativeArraySizeException e) {
            throw new IllegalArgumentException("failure is truncated", e);
        }
    }

    private static String text(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.getInt()];
        buffer.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
