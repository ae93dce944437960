package io.idempotency.redis;

import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Does things on a connection of the application's factory, and says in our words why they failed. */
final class RedisCalls {

    private final RedisConnectionFactory connectionFactory;

    RedisCalls(RedisConnectionFactory connectionFactory) {
        this.connectionFactory = connectionFactory;
    }

    RedisConnectionFactory connectionFactory() {
        return connectionFactory;
    }

    /**
     * Does a task on a connection.
     *
     * @param otherType the answer where the key holds something that is not even a string
     */
    <R> R call(Supplier<String> task, R otherType, Function<RedisConnection, R> work) {
        // Drivers give up waiting for an answer at once if the thread was interrupted before. Ours is for later.
        boolean interrupted = Thread.interrupted();
        try (RedisConnection connection = connectionFactory.getConnection()) {
            return work.apply(connection);
        } catch (RuntimeException e) {
            if (RedisFailures.isOtherType(e)) {
                return otherType;
            }
            interrupted |= RedisFailures.isInterruption(e);
            throw RedisFailures.unavailable(task.get(), e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
