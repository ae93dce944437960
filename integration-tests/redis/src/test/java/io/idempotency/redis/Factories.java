package io.idempotency.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.List;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import redis.clients.jedis.JedisPoolConfig;

/** Connection factories as an application has them. The event loops of all of them are shared. */
final class Factories {

    /** Longer than any command takes on a machine that is busy with other things. */
    static final Duration PATIENT = Duration.ofSeconds(10);

    /** The name under which the server knows the connections of these factories. */
    static final String CLIENT_NAME = "store";

    private static final ClientResources RESOURCES = DefaultClientResources.builder()
            .ioThreadPoolSize(2)
            .computationThreadPoolSize(2)
            .reconnectDelay(Delay.constant(Duration.ofMillis(20)))
            .build();

    private Factories() {}

    static LettuceConnectionFactory lettuce(int port, Duration timeout) {
        return lettuce(standalone(port), timeout, DisconnectedBehavior.DEFAULT);
    }

    /** A factory that does not wait for a lost connection to come back. */
    static LettuceConnectionFactory impatientLettuce(RedisConfiguration server) {
        return lettuce(server, PATIENT, DisconnectedBehavior.REJECT_COMMANDS);
    }

    private static LettuceConnectionFactory lettuce(
            RedisConfiguration server, Duration timeout, DisconnectedBehavior disconnected) {
        LettuceClientConfiguration client = LettuceClientConfiguration.builder()
                .clientResources(RESOURCES)
                .clientName(CLIENT_NAME)
                .commandTimeout(timeout)
                .shutdownTimeout(Duration.ZERO)
                .clientOptions(options(server, disconnected))
                .build();
        return started(
                server instanceof RedisClusterConfiguration cluster
                        ? new LettuceConnectionFactory(cluster, client)
                        : new LettuceConnectionFactory((RedisStandaloneConfiguration) server, client));
    }

    private static ClientOptions options(RedisConfiguration server, DisconnectedBehavior disconnected) {
        return server instanceof RedisClusterConfiguration
                ? ClusterClientOptions.builder()
                        .disconnectedBehavior(disconnected)
                        .build()
                : ClientOptions.builder().disconnectedBehavior(disconnected).build();
    }

    /** A factory that prefers the replica for whatever Lettuce takes for a read. */
    static LettuceConnectionFactory lettuceThatReadsFromReplica(int master, int replica) {
        RedisStaticMasterReplicaConfiguration servers = new RedisStaticMasterReplicaConfiguration("127.0.0.1", master);
        servers.addNode("127.0.0.1", replica);
        LettuceClientConfiguration client = LettuceClientConfiguration.builder()
                .clientResources(RESOURCES)
                .commandTimeout(PATIENT)
                .shutdownTimeout(Duration.ZERO)
                .readFrom(ReadFrom.REPLICA)
                .build();
        return started(new LettuceConnectionFactory(servers, client));
    }

    static LettuceConnectionFactory started(LettuceConnectionFactory factory) {
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    static JedisConnectionFactory jedis(int port, Duration timeout) {
        return jedis(standalone(port), timeout);
    }

    static JedisConnectionFactory jedis(RedisConfiguration server, Duration timeout) {
        return started(
                server instanceof RedisClusterConfiguration cluster
                        ? new JedisConnectionFactory(cluster, jedisClient(timeout))
                        : new JedisConnectionFactory((RedisStandaloneConfiguration) server, jedisClient(timeout)));
    }

    static JedisConnectionFactory jedis(int port, JedisPoolConfig pool) {
        return started(new JedisConnectionFactory(standalone(port), jedisClient(PATIENT, pool)));
    }

    private static JedisClientConfiguration jedisClient(Duration timeout) {
        JedisPoolConfig pool = new JedisPoolConfig();
        pool.setMaxTotal(8);
        return jedisClient(timeout, pool);
    }

    private static JedisClientConfiguration jedisClient(Duration timeout, JedisPoolConfig pool) {
        return JedisClientConfiguration.builder()
                .clientName(CLIENT_NAME)
                .readTimeout(timeout)
                .connectTimeout(timeout)
                .usePooling()
                .poolConfig(pool)
                .build();
    }

    private static JedisConnectionFactory started(JedisConnectionFactory factory) {
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    static RedisStandaloneConfiguration standalone(int port) {
        return new RedisStandaloneConfiguration("127.0.0.1", port);
    }

    static RedisClusterConfiguration cluster(int port) {
        RedisClusterConfiguration configuration = new RedisClusterConfiguration(List.of("127.0.0.1:" + port));
        // Jedis tries this often, and each time for as long as its timeout.
        configuration.setMaxRedirects(2);
        return configuration;
    }
}
