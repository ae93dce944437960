package io.idempotency.redis;

import io.idempotency.StoreUnavailableException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;

/** Waits until replicas have what was just written on a connection. */
final class Replicas {

    private static final int TIMEOUT_MILLIS = 100;

    private final int count;

    Replicas(int count) {
        this.count = count;
    }

    int count() {
        return count;
    }

    /**
     * Returns when enough of them have it.
     *
     * @throws StoreUnavailableException if too few had it in time; the master has it
     */
    void confirm(RedisConnection connection) {
        if (count == 0) {
            return;
        }
        byte[][] arguments = {ascii(count), ascii(TIMEOUT_MILLIS)};
        Object confirmed = connection instanceof LettuceConnection lettuce
                ? Lettuce.await(lettuce, arguments)
                : connection.execute("WAIT", arguments);
        if (!(confirmed instanceof Long number) || number < count) {
            throw new StoreUnavailableException(
                    "Written to Redis, but only " + confirmed + " of " + count + " replicas confirmed it within "
                            + TIMEOUT_MILLIS + " ms",
                    null);
        }
    }

    private static byte[] ascii(int number) {
        return Integer.toString(number).getBytes(StandardCharsets.US_ASCII);
    }

    /** Lettuce has to be told that the answer is a number. In a class of its own, because Lettuce may not be there. */
    private static final class Lettuce {

        static @Nullable Object await(LettuceConnection connection, byte[][] arguments) {
            return connection.execute("WAIT", new IntegerOutput<>(ByteArrayCodec.INSTANCE), arguments);
        }
    }
}
