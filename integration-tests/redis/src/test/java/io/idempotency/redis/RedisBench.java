package io.idempotency.redis;

import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.TcpProxy;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.RecordId;
import io.idempotency.test.StoreFixture;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.resps.ScanResult;
import redis.clients.jedis.util.JedisURIHelper;

/** A server behind a proxy, and two nodes of an application that know only the proxy: what the contracts run on. */
final class RedisBench implements AutoCloseable {

    private final List<AutoCloseable> servers = new ArrayList<>();
    private final TcpProxy proxy = new TcpProxy();
    private final String prefix = "idempotency-test:" + UUID.randomUUID() + ":";
    private final URI server;
    private final RedisConnectionFactory first;
    private final RedisConnectionFactory second;

    private RedisBench(
            Function<TcpProxy, RedisServer> starter,
            Function<RedisConfiguration, RedisConnectionFactory> driver,
            boolean cluster) {
        String named = RedisServer.named();
        if (starter == null && named != null) {
            server = URI.create(named);
        } else {
            RedisServer started = starter == null ? RedisServer.start() : starter.apply(proxy);
            servers.add(started);
            server = URI.create("redis://127.0.0.1:" + started.port());
        }
        proxy.target(server.getHost(), server.getPort());
        RedisConfiguration behindProxy = cluster ? Factories.cluster(proxy.port()) : standalone();
        first = driver.apply(behindProxy);
        second = driver.apply(behindProxy);
    }

    /** The server that was named for the tests, or else Redis 7.0. */
    static RedisBench on(Function<RedisConfiguration, RedisConnectionFactory> driver) {
        return new RedisBench(null, driver, false);
    }

    static RedisBench onRedis6(Function<RedisConfiguration, RedisConnectionFactory> driver) {
        return new RedisBench(proxy -> RedisServer.start(RedisBinary.REDIS_6), driver, false);
    }

    static RedisBench onCluster(Function<RedisConfiguration, RedisConnectionFactory> driver) {
        return new RedisBench(proxy -> RedisServer.startCluster(proxy.port()), driver, true);
    }

    private RedisStandaloneConfiguration standalone() {
        RedisStandaloneConfiguration configuration = Factories.standalone(proxy.port());
        configuration.setUsername(JedisURIHelper.getUser(server));
        configuration.setPassword(JedisURIHelper.getPassword(server));
        configuration.setDatabase(JedisURIHelper.getDBIndex(server));
        return configuration;
    }

    StoreFixture fixture() {
        return new Fixture();
    }

    @Override
    public void close() throws Exception {
        try (Jedis jedis = new Jedis(server)) {
            ScanParams ours = new ScanParams().match(prefix + "*").count(1000);
            String cursor = ScanParams.SCAN_POINTER_START;
            do {
                ScanResult<String> page = jedis.scan(cursor, ours);
                page.getResult().forEach(jedis::del);
                cursor = page.getCursor();
            } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
        }
        for (RedisConnectionFactory factory : List.of(first, second)) {
            ((DisposableBean) factory).destroy();
        }
        proxy.close();
        for (AutoCloseable started : servers) {
            started.close();
        }
    }

    private final class Fixture implements StoreFixture {

        private final IdempotencyStore store = store(first);
        private final IdempotencyStore otherNode = store(second);

        private IdempotencyStore store(RedisConnectionFactory factory) {
            return RedisIdempotencyStore.builder(factory).keyPrefix(prefix).build();
        }

        @Override
        public IdempotencyStore store() {
            return store;
        }

        @Override
        public IdempotencyStore otherNode() {
            return otherNode;
        }

        @Override
        public boolean breakResult(RecordId id) {
            String key = prefix + HexFormat.of().formatHex(id.bytes());
            try (Jedis jedis = new Jedis(server)) {
                byte[] value = jedis.get(bytes(key));
                jedis.set(
                        bytes(key),
                        Arrays.copyOf(value, value.length - 3),
                        SetParams.setParams().keepTtl());
            }
            return true;
        }

        @Override
        public boolean cut() {
            proxy.cut();
            return true;
        }

        @Override
        public void restore() {
            proxy.restore();
            for (RedisConnectionFactory factory : List.of(first, second)) {
                awaitAnswer(factory);
            }
        }

        private void awaitAnswer(RedisConnectionFactory factory) {
            long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
            while (true) {
                try (RedisConnection connection = factory.getConnection()) {
                    connection.keyCommands().exists(bytes("any"));
                    return;
                } catch (RuntimeException e) {
                    if (System.nanoTime() > end) {
                        throw e;
                    }
                    advance(Duration.ofMillis(20));
                }
            }
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
