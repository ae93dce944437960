package io.idempotency.redis;

import io.idempotency.redis.LuaScript.Reply;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.Fingerprint;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.Owner;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import io.idempotency.spi.WriteOutcome;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStringCommands.SetOption;
import org.springframework.data.redis.core.types.Expiration;

/**
 * Keeps records in Redis 6.2 or later, one string per key.
 *
 * <p>A claim is one round trip and so is a replay; a claim and its completion are two. Every command and script concerns one key, so
 * that a cluster needs no preparation, and counts as a write, so that a driver never sends it to a replica and a replica never answers
 * it. How long a command may take is a matter of the connection factory.
 *
 * <p>Redis may forget what it has acknowledged: in a failover, by eviction, in a crash between two syncs. See
 * {@code docs/stores/redis.md} for what the guarantees are worth then.
 *
 * @since 0.1.0
 */
public final class RedisIdempotencyStore implements IdempotencyStore {

    /** What the keys of a store begin with unless it is told otherwise. */
    public static final String DEFAULT_KEY_PREFIX = RedisKeys.DEFAULT_PREFIX;

    private static final LuaScript CLAIM = LuaScript.of("claim");
    private static final LuaScript COMPLETE = LuaScript.of("complete");
    private static final LuaScript RENEW = LuaScript.of("renew");
    private static final LuaScript RELEASE = LuaScript.of("release");
    private static final LuaScript FIND = LuaScript.of("find");

    private static final String OTHER_TYPE = "another type of value stands under the key";
    private static final byte[] NONE = {};

    private final RedisCalls calls;
    private final RedisKeys keys;
    private final Replicas replicas;
    private final ServerClock clock = new ServerClock();

    // One step of SET where the server can do that, which it tells by not understanding it.
    private volatile boolean claimsByScript;

    private RedisIdempotencyStore(Builder builder) {
        this.calls = new RedisCalls(builder.connectionFactory);
        this.keys = new RedisKeys(builder.keyPrefix);
        this.replicas = new Replicas(builder.waitReplicas);
    }

    /** A store on the servers of this factory. No connection is made before the first call. */
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
    public ClaimResult tryClaim(ClaimRequest request) {
        byte[] key = keys.of(request.id());
        return calls.call(
                () -> "claiming " + request.id() + " for operation " + request.operation(),
                new ClaimResult.Unreadable(Fingerprint.NONE, OTHER_TYPE),
                connection -> {
                    ClaimResult answer = request.takeOverFrom() == null && !claimsByScript
                            ? setOrGet(connection, key, request)
                            : null;
                    return answer == null
                            ? put(
                                    connection,
                                    key,
                                    request,
                                    RedisRecord.head(request),
                                    NONE,
                                    RedisRecord.holdMillis(request))
                            : answer;
                });
    }

    @Override
    public ClaimResult recordDone(ClaimRequest request, StoredResult result) {
        byte[] key = keys.of(request.id());
        byte[] head = RedisRecord.doneHead(request);
        byte[] bytes = result.toBytes();
        return calls.call(
                () -> "recording a result of operation " + request.operation() + " under " + request.id(),
                new ClaimResult.Unreadable(Fingerprint.NONE, OTHER_TYPE),
                connection -> put(connection, key, request, head, bytes, RedisRecord.millis(request.retention())));
    }

    // Null where SET alone cannot answer: what is left of a lease is not in the record, a server without memory refuses
    // even to read by it, and an old one does not know this form.
    private @Nullable ClaimResult setOrGet(RedisConnection connection, byte[] key, ClaimRequest request) {
        byte[] found;
        try {
            found = connection
                    .stringCommands()
                    .setGet(
                            key,
                            RedisRecord.processing(request),
                            Expiration.milliseconds(RedisRecord.holdMillis(request)),
                            SetOption.SET_IF_ABSENT);
        } catch (RuntimeException e) {
            if (RedisFailures.isUnknownSyntax(e)) {
                claimsByScript = true;
            } else if (!RedisFailures.isOutOfMemory(e)) {
                throw e;
            }
            return null;
        }
        if (found == null) {
            return claimed(connection, request, 1);
        }
        try {
            RedisRecord record = RedisRecord.parse(found);
            if (record.isProcessingOf(request.owner())) {
                return claimed(connection, request, record.token);
            }
            OptionalLong now = clock.now();
            return record.done && now.isPresent()
                    ? record.seen(request.id(), record.retentionLeft(now.getAsLong()), record.created)
                            .asClaimResult()
                    : null;
        } catch (IllegalArgumentException e) {
            return new ClaimResult.Unreadable(Fingerprint.NONE, reason(e));
        }
    }

    private ClaimResult put(
            RedisConnection connection, byte[] key, ClaimRequest request, byte[] head, byte[] result, long hold) {
        Owner seen = request.takeOverFrom();
        Reply reply = run(
                CLAIM,
                connection,
                key,
                head,
                RedisRecord.tail(request, result),
                RedisKeys.ascii(RedisRecord.leaseMillis(request)),
                RedisKeys.ascii(hold),
                seen == null ? NONE : RedisRecord.bytes(seen));
        if (reply.size() == 2) {
            return claimed(connection, request, reply.number(1));
        }
        try {
            RedisRecord record = RedisRecord.parse(reply.bytes(1));
            return record.isProcessingOf(request.owner())
                    ? claimed(connection, request, record.token)
                    : seen(request.id(), record, reply, record.created).asClaimResult();
        } catch (IllegalArgumentException e) {
            return new ClaimResult.Unreadable(Fingerprint.NONE, reason(e));
        }
    }

    // A token above the first one can only come from a takeover, in this sending or in an earlier one.
    private ClaimResult claimed(RedisConnection connection, ClaimRequest request, long token) {
        replicas.confirm(connection);
        return new ClaimResult.Claimed(new Lease(request, token), token > 1);
    }

    @Override
    public WriteOutcome complete(Lease lease, StoredResult result, Duration retention) {
        byte[] bytes = result.toBytes();
        return write(
                "storing a result of",
                lease,
                COMPLETE,
                RedisRecord.bytes(lease.owner()),
                bytes,
                RedisKeys.ascii(RedisRecord.millis(retention)));
    }

    @Override
    public WriteOutcome release(Lease lease) {
        return write("releasing the key of", lease, RELEASE, RedisRecord.bytes(lease.owner()));
    }

    @Override
    public WriteOutcome renew(Lease lease) {
        return write(
                "renewing the lease of",
                lease,
                RENEW,
                RedisRecord.bytes(lease.owner()),
                RedisKeys.ascii(RedisRecord.leaseMillis(lease.request())),
                RedisKeys.ascii(RedisRecord.holdMillis(lease.request())));
    }

    private WriteOutcome write(String what, Lease lease, LuaScript script, byte[]... arguments) {
        byte[] key = keys.of(lease.id());
        return calls.call(
                () -> what + " operation " + lease.request().operation() + " (" + lease.id() + ")",
                WriteOutcome.LOST,
                connection -> {
                    if (run(script, connection, key, arguments).number(1) == 0) {
                        return WriteOutcome.LOST;
                    }
                    if (script == COMPLETE) {
                        replicas.confirm(connection);
                    }
                    return WriteOutcome.APPLIED;
                });
    }

    @Override
    public Optional<IdempotencyRecord> find(RecordId id) {
        byte[] key = keys.of(id);
        return calls.call(() -> "reading " + id, Optional.of(RedisRecord.unreadable(id, OTHER_TYPE, 0)), connection -> {
            Reply reply = run(FIND, connection, key);
            if (reply.size() == 1) {
                return Optional.empty();
            }
            try {
                return Optional.of(seen(id, RedisRecord.parse(reply.bytes(1)), reply, reply.number(3)));
            } catch (IllegalArgumentException e) {
                return Optional.of(RedisRecord.unreadable(id, reason(e), reply.number(2)));
            }
        });
    }

    private static IdempotencyRecord seen(RecordId id, RedisRecord record, Reply reply, long created) {
        long timeToLive = reply.number(2);
        return record.seen(id, record.done && timeToLive < 0 ? record.retentionLeft(reply.now()) : timeToLive, created);
    }

    @Override
    public boolean forget(RecordId id) {
        byte[] key = keys.of(id);
        return calls.call(() -> "forgetting " + id, false, connection -> {
            Long removed = connection.keyCommands().del(key);
            return removed != null && removed > 0;
        });
    }

    private Reply run(LuaScript script, RedisConnection connection, byte[] key, byte[]... arguments) {
        Reply reply = script.run(connection, key, arguments);
        clock.heard(reply.now());
        return reply;
    }

    private static String reason(IllegalArgumentException unreadable) {
        return Objects.requireNonNullElse(unreadable.getMessage(), "record cannot be read");
    }

    /** Builds a {@link RedisIdempotencyStore}. */
    public static final class Builder {

        private final RedisConnectionFactory connectionFactory;
        private String keyPrefix = DEFAULT_KEY_PREFIX;
        private int waitReplicas;

        private Builder(RedisConnectionFactory connectionFactory) {
            this.connectionFactory = connectionFactory;
        }

        /**
         * What the keys begin with: 1 to 100 of the characters {@code A-Z a-z 0-9 : . _ / -}. Stores share records if and only if they
         * share server, database and prefix.
         */
        public Builder keyPrefix(String prefix) {
            this.keyPrefix = RedisKeys.checked(prefix);
            return this;
        }

        /**
         * How many replicas have to confirm a claim or a result before it counts; 0 (the default) for none. Fewer within 100 ms:
         * the call ends with {@link io.idempotency.StoreUnavailableException}. It needs a round trip more each time and blocks the
         * connection meanwhile, so it asks for a connection factory that does not share its native connection. Not on a cluster.
         */
        public Builder waitReplicas(int replicas) {
            this.waitReplicas = Replicas.checked(replicas);
            return this;
        }

        /**
         * The store. Makes no connection, unless it has to find out whether there is a cluster that cannot wait for replicas.
         *
         * @throws IllegalStateException if replicas are to be waited for on a cluster
         */
        public RedisIdempotencyStore build() {
            Replicas.checkNoCluster(waitReplicas, connectionFactory);
            return new RedisIdempotencyStore(this);
        }
    }
}
