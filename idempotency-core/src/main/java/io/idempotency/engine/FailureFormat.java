package io.idempotency.engine;

import io.idempotency.ReplayedFailureException;
import io.idempotency.spi.StoredResult;
import java.lang.reflect.Constructor;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The stored form of a terminal failure: type name and message, each with its length in front; the length of a message that is
 * not there is -1.
 */
final class FailureFormat {

    private static final String ID = "failure/1";
    private static final int LONGEST_MESSAGE = 4000;
    private static final int ABSENT = -1;

    private FailureFormat() {}

    static StoredResult write(Throwable failure) {
        byte[] type = failure.getClass().getName().getBytes(StandardCharsets.UTF_8);
        String text = failure.getMessage();
        byte[] message = text == null
                ? new byte[0]
                : text.substring(0, Math.min(text.length(), LONGEST_MESSAGE)).getBytes(StandardCharsets.UTF_8);
        ByteBuffer buffer = ByteBuffer.allocate(8 + type.length + message.length);
        buffer.putInt(type.length)
                .put(type)
                .putInt(text == null ? ABSENT : message.length)
                .put(message);
        return StoredResult.failure(ID, buffer.array());
    }

    static ReplayedFailureException read(StoredResult stored) {
        if (!stored.format().equals(ID)) {
            throw new IllegalArgumentException("failure in the unknown format '" + stored.format() + "'");
        }
        try {
            ByteBuffer buffer = ByteBuffer.wrap(stored.payload());
            String type = text(buffer, buffer.getInt());
            int length = buffer.getInt();
            return new ReplayedFailureException(type, length == ABSENT ? null : text(buffer, length));
        } catch (BufferUnderflowException | NegativeArraySizeException e) {
            throw new IllegalArgumentException("failure is truncated", e);
        }
    }

    /**
     * The failure as an exception of its own type, if that is one of the candidates and has a public constructor for a message.
     * No class is looked up by what is stored.
     */
    static Throwable rebuilt(ReplayedFailureException failure, List<Class<? extends Throwable>> candidates) {
        for (Class<? extends Throwable> candidate : candidates) {
            if (candidate.getName().equals(failure.failureType())) {
                try {
                    Constructor<? extends Throwable> constructor = candidate.getConstructor(String.class);
                    constructor.trySetAccessible();
                    Throwable rebuilt = constructor.newInstance(failure.getMessage());
                    rebuilt.addSuppressed(failure);
                    return rebuilt;
                } catch (ReflectiveOperationException | RuntimeException e) {
                    return failure;
                }
            }
        }
        return failure;
    }

    private static String text(ByteBuffer buffer, int length) {
        byte[] bytes = new byte[length];
        buffer.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
