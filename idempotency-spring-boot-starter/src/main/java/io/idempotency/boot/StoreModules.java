package io.idempotency.boot;

import io.idempotency.boot.IdempotencyProperties.Store;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * Which of the library's own store modules the application has. What else it has, a DataSource or a Redis for other purposes, says
 * nothing about where its records belong.
 */
record StoreModules(boolean jdbc, boolean redis) {

    static StoreModules in(@Nullable ClassLoader classLoader) {
        return new StoreModules(
                ClassUtils.isPresent("io.idempotency.jdbc.JdbcIdempotencyStore", classLoader),
                ClassUtils.isPresent("io.idempotency.redis.RedisIdempotencyStore", classLoader));
    }

    /** Whether this store has its module there, and no other store has. */
    boolean isOnly(Store store) {
        return switch (store) {
            case JDBC -> jdbc && !redis;
            case REDIS -> redis && !jdbc;
            default -> false;
        };
    }
}
