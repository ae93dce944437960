package io.idempotency.redis;

import io.idempotency.redis.LuaScript.Reply;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.ResultCache;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStringCommands.SetOption;
import org.springframework.data.redis.core.types.Expiration;

/**
 * Keeps copies of results in Redis 6.2 or later, one string per key, for a tiered store.
 *
 * <p>Applications share copies if and only if they share server, database and prefix; they must share the records in their database as
 * well then.
 *
 * @since 0.1.0
 */
public final class RedisResultCache implements ResultCache {

    private static final LuaScript GET = LuaScript.alone("cache-get");
    private static final LuaScript PUT = LuaScript.alone("cache-put");

    private static final Duration BAR = Duration.ofSeconds(60);

    /** Far less than a bar lasts. */
    private static final Duration OLDEST_COPY = Duration.ofSeconds(5);

    private final RedisCalls calls;
    private final RedisKeys keys;
    private final Replicas replicas;
    private final ServerClock clock = new ServerClock();

    private RedisResultCache(Builder builder) {
        this.calls = new RedisCalls(builder.connectionFactory);
        this.keys = new RedisKeys(builder.keyPrefix + "done:");
        this.replicas = new Replicas(builder.waitReplicas);
    }

    /** A cache on the servers of this factory. No connection is made before the first call. */
    public static Builder builder(RedisConnectionFactory connectionFactory) {
        return new Builder(Objects.requireNonNull(connectionFactory, "connectionFactory"));
    }

    RedisConnectionFactory connectionFactory() {
        return calls.connectionFactory();
    }

    int waitReplicas() {
        return replicas.count();
    }

    @Override
    public String name() {
        return "redis";
    }

    @Override
    public OptionalLong time() {
        return clock.now();
    }

    @Override
    public Optional<ClaimResult.Done> get(RecordId id) {
        byte[] key = keys.of(id);
        return calls.call(() -> "looking for a copy of " + id, Optional.empty(), connection -> {
            Reply reply = GET.run(connection, key);
            clock.heard(reply.now());
            return reply.size() == 1 ? Optional.empty() : CachedCopy.parse(reply.bytes(1), reply.now());
        });
    }

    @Override
    public void put(RecordId id, ClaimResult.Done done, Duration lifetime, OptionalLong asOf) {
        byte[] key = keys.of(id);
        byte[] rest = CachedCopy.rest(done);
        calls.call(() -> "keeping a copy of " + id, false, connection -> {
            // A copy whose age is not known is too old. The answer tells the time for the next one.
            Reply reply = PUT.run(
                    connection,
                    key,
                    RedisKeys.ascii(asOf.orElse(0)),
                    RedisKeys.ascii(RedisRecord.millis(lifetime)),
                    RedisKeys.ascii(RedisRecord.millis(done.retentionLeft())),
                    RedisKeys.ascii(OLDEST_COPY.toMillis()),
                    rest);
            clock.heard(reply.now());
            return reply.number(1) == 1;
        });
    }

    @Override
    public void bar(RecordId id) {
        byte[] key = keys.of(id);
        calls.call(() -> "barring copies of " + id, false, connection -> {
            connection
                    .stringCommands()
                    .set(key, CachedCopy.BAR, Expiration.milliseconds(BAR.toMillis()), SetOption.UPSERT);
            replicas.confirm(connection);
            return true;
        });
    }

    /** Builds a {@link RedisResultCache}. */
    public static final class Builder {

        private final RedisConnectionFactory connectionFactory;
        private String keyPrefix = RedisKeys.DEFAULT_PREFIX;
        private int waitReplicas;

        private Builder(RedisConnectionFactory connectionFactory) {
            this.connectionFactory = connectionFactory;
        }

        /** What the keys begin with, as in {@link RedisIdempotencyStore.Builder#keyPrefix}; {@code done:} follows. */
        public Builder keyPrefix(String prefix) {
            this.keyPrefix = RedisKeys.checked(prefix);
            return this;
        }

        /** How many replicas have to confirm that a record is to be forgotten, as in {@link RedisIdempotencyStore.Builder#waitReplicas}. */
        public Builder waitReplicas(int replicas) {
            this.waitReplicas = Replicas.checked(replicas);
            return this;
        }

        /**
         * The cache.
         *
         * @throws IllegalStateException if replicas are to be waited for on a cluster
         */
        public RedisResultCache build() {
            Replicas.checkNoCluster(waitReplicas, connectionFactory);
            return new RedisResultCache(this);
        }
    }
}
