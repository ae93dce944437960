package io.idempotency.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * What can be known about the servers and the connections of a store without changing anything: for the log at start and for health.
 *
 * <p>It reads {@code INFO}, never {@code CONFIG}. That a server does not tell is not a finding; that it cannot be reached is. Asking
 * takes as long as the command timeout at most.
 *
 * @since 0.1.0
 */
public final class RedisServerChecks {

    private static final Logger log = LoggerFactory.getLogger(RedisServerChecks.class);

    private static final String SAFE_POLICY = "noeviction";

    // Lettuce waits for so long if nobody has told it otherwise.
    private static final Duration LETTUCE_DEFAULT = Duration.ofSeconds(60);

    private final @Nullable String version;
    private final @Nullable String maxmemoryPolicy;
    private final List<String> warnings;

    private RedisServerChecks(RedisConnectionFactory factory) {
        List<String> found = new ArrayList<>();
        Properties info = info(factory, found);
        this.version = lowest(values(info, "redis_version"));
        this.maxmemoryPolicy = policy(values(info, "maxmemory_policy"));
        this.warnings = found;
        checkVersion(found);
    }

    /**
     * Looks at the servers and the connections of a store.
     *
     * @param lease the shortest lease of an operation
     */
    public static RedisServerChecks of(RedisIdempotencyStore store, Duration lease) {
        RedisServerChecks checks = new RedisServerChecks(store.connectionFactory());
        checks.checkPolicy(checks.warnings);
        checkTimeout(store.connectionFactory(), lease, checks.warnings);
        checkSharing(store.waitReplicas(), store.connectionFactory(), checks.warnings);
        return checks;
    }

    /** Looks at the servers and the connections of a cache. It may lose its copies, and nobody waits for it. */
    public static RedisServerChecks of(RedisResultCache cache) {
        RedisServerChecks checks = new RedisServerChecks(cache.connectionFactory());
        checkSharing(cache.waitReplicas(), cache.connectionFactory(), checks.warnings);
        return checks;
    }

    /** The version of Redis, the lowest one of a cluster; empty if the server did not tell. */
    public Optional<String> version() {
        return Optional.ofNullable(version);
    }

    /**
     * What the server does when its memory is full, for example {@code noeviction}. Of the nodes of a cluster an evicting one. Empty
     * if the server did not tell.
     */
    public Optional<String> maxmemoryPolicy() {
        return Optional.ofNullable(maxmemoryPolicy);
    }

    /** What somebody should know or change, each a text for one log line at level WARN. */
    public List<String> warnings() {
        return List.copyOf(warnings);
    }

    private void checkVersion(List<String> found) {
        if (version != null && isTooOld(version)) {
            found.add("Redis " + version
                    + " is too old for the idempotency records, and calls will fail: 6.2 or later is needed");
        }
    }

    private void checkPolicy(List<String> found) {
        if (maxmemoryPolicy != null && !maxmemoryPolicy.equals(SAFE_POLICY)) {
            found.add("Redis evicts keys when its memory is full (maxmemory-policy " + maxmemoryPolicy
                    + "): it may forget idempotency records before their time, and their duplicates run again. Use maxmemory-policy "
                    + SAFE_POLICY + ", or a server of their own");
        }
    }

    private static void checkTimeout(RedisConnectionFactory factory, Duration lease, List<String> found) {
        Duration timeout = null;
        boolean unset = false;
        if (factory instanceof LettuceConnectionFactory lettuce) {
            timeout = Duration.ofMillis(lettuce.getTimeout());
            unset = timeout.equals(LETTUCE_DEFAULT);
        } else if (factory instanceof JedisConnectionFactory jedis) {
            timeout = Duration.ofMillis(jedis.getTimeout());
        }
        if (timeout == null) {
            return;
        }
        unset |= timeout.isZero();
        if (unset || timeout.multipliedBy(3).compareTo(lease) > 0) {
            found.add("The command timeout of Redis is "
                    + (timeout.isZero() ? "unlimited" : timeout.toMillis() + " ms")
                    + (unset ? " (not set)" : "")
                    + ": a call may hang for so long when Redis does. Set spring.data.redis.timeout to at most a third of the lease ("
                    + lease.toMillis() / 3 + " ms), better to a second or two");
        }
    }

    private static void checkSharing(int waitReplicas, RedisConnectionFactory factory, List<String> found) {
        if (waitReplicas > 0
                && factory instanceof LettuceConnectionFactory lettuce
                && lettuce.getShareNativeConnection()) {
            found.add(
                    "Waiting for replicas blocks the Redis connection, and Lettuce shares one among all threads: give the idempotency"
                            + " store a connection factory with a pool and shareNativeConnection=false");
        }
    }

    private static Properties info(RedisConnectionFactory factory, List<String> found) {
        try (RedisConnection connection = factory.getConnection()) {
            Properties info = connection.serverCommands().info();
            return info == null ? new Properties() : info;
        } catch (RuntimeException e) {
            log.debug("Redis does not tell about itself", e);
            if (!RedisFailures.isRefusal(e)) {
                found.add("Redis cannot be reached, so that its version and settings were not checked ("
                        + NestedExceptionUtils.getMostSpecificCause(e).getMessage() + ")");
            }
            return new Properties();
        }
    }

    // On a cluster the names have the node in front.
    private static TreeSet<String> values(Properties info, String name) {
        TreeSet<String> values = new TreeSet<>();
        for (String key : info.stringPropertyNames()) {
            if (key.equals(name) || key.endsWith("." + name)) {
                values.add(info.getProperty(key));
            }
        }
        return values;
    }

    private static @Nullable String policy(TreeSet<String> policies) {
        return policies.stream()
                .filter(policy -> !policy.equals(SAFE_POLICY))
                .findFirst()
                .orElse(policies.isEmpty() ? null : SAFE_POLICY);
    }

    private static @Nullable String lowest(TreeSet<String> versions) {
        return versions.stream()
                .min((one, other) -> {
                    int major = Integer.compare(part(one, 0), part(other, 0));
                    return major != 0 ? major : Integer.compare(part(one, 1), part(other, 1));
                })
                .orElse(null);
    }

    static boolean isTooOld(String version) {
        return part(version, 0) < 6 || part(version, 0) == 6 && part(version, 1) < 2;
    }

    private static int part(String version, int index) {
        String[] parts = version.split("\\D+");
        return index < parts.length && !parts[index].isEmpty() ? Integer.parseInt(parts[index]) : Integer.MAX_VALUE;
    }
}
