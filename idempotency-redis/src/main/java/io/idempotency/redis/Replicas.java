package io.idempotency.redis;

import io.idempotency.StoreUnavailableException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
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

    /** The number, if it can be one. */
    static int checked(int replicas) {
        if (replicas < 0) {
            throw new IllegalArgumentException("The number of replicas to wait for is at least 0, not " + replicas);
        }
        return replicas;
    }

    /** Makes no connection, unless it has to find out whether there is a cluster. */
    static void checkNoCluster(int replicas, RedisConnectionFactory connectionFactory) {
        if (replicas > 0 && isCluster(connectionFactory)) {
            throw new IllegalStateException(
                    "Waiting for replicas does not work on a Redis cluster: WAIT names no key, so it"
                            + " cannot be sent to the node that has the record. Set idempotency.redis.wait-replicas to 0");
        }
    }

    private static boolean isCluster(RedisConnectionFactory connectionFactory) {
        try (RedisClusterConnection cluster = connectionFactory.getClusterConnection()) {
            return cluster != null;
        } catch (InvalidDataAccessApiUsageException e) {
            return false;
        } catch (RedisConnectionFailureException e) {
            return true;
        }
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
        byte[][] arguments = {RedisKeys.ascii(count), RedisKeys.ascii(TIMEOUT_MILLIS)};
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

    /** Lettuce has to be told that the answer is a number. In a class of its own, because Lettuce may not be there. */
    private static final class Lettuce {

        static @Nullable Object await(LettuceConnection connection, byte[][] arguments) {
            return connection.execute("WAIT", new IntegerOutput<>(ByteArrayCodec.INSTANCE), arguments);
        }
    }
}
