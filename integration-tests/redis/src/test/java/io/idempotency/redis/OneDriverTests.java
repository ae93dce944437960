package io.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimResult;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** An application has one of the two drivers, not both. */
class OneDriverTests {

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void jedisAloneIsEnough() throws Exception {
        runs(OnJedis.class, "lettuce-core");
    }

    @Test
    void lettuceAloneIsEnough() throws Exception {
        runs(OnLettuce.class, "jedis");
    }

    private static void runs(Class<? extends Runnable> work, String absent) throws Exception {
        List<URL> classPath = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!Path.of(entry).getFileName().toString().startsWith(absent + "-")) {
                classPath.add(Path.of(entry).toUri().toURL());
            }
        }
        try (URLClassLoader application =
                new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            String driver = absent.equals("jedis") ? "redis.clients.jedis.Jedis" : "io.lettuce.core.RedisClient";
            assertThatExceptionOfType(ClassNotFoundException.class).isThrownBy(() -> application.loadClass(driver));
            Class<?> loaded = Class.forName(work.getName(), true, application);
            Object instance = loaded.getDeclaredConstructor(int.class).newInstance(server.port());
            ClassLoader before = Thread.currentThread().getContextClassLoader();
            Thread.currentThread().setContextClassLoader(application);
            try {
                loaded.getMethod("run").invoke(instance);
            } finally {
                Thread.currentThread().setContextClassLoader(before);
            }
        }
    }

    private static void use(RedisConnectionFactory factory) {
        RedisIdempotencyStore store = RedisIdempotencyStore.builder(factory).build();
        ClaimResult answer = store.tryClaim(Claims.request(Claims.freshId()));
        assertThat(store.complete(((ClaimResult.Claimed) answer).lease(), Claims.result("first"), Claims.LONG))
                .isNotNull();
        RedisIdempotencyStore waiting =
                RedisIdempotencyStore.builder(factory).waitReplicas(1).build();
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> waiting.tryClaim(Claims.request(Claims.freshId())))
                .withMessageContaining("0 of 1 replicas");
        assertThat(RedisServerChecks.of(store, Duration.ofMinutes(10)).version())
                .hasValue("7.0.15");
    }

    /** Loaded by a class loader of its own. */
    public static final class OnJedis implements Runnable {

        private final int port;

        public OnJedis(int port) {
            this.port = port;
        }

        @Override
        public void run() {
            JedisConnectionFactory factory =
                    new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port));
            factory.afterPropertiesSet();
            factory.start();
            use(factory);
            factory.destroy();
        }
    }

    /** Loaded by a class loader of its own. */
    public static final class OnLettuce implements Runnable {

        private final int port;

        public OnLettuce(int port) {
            this.port = port;
        }

        @Override
        public void run() {
            LettuceConnectionFactory factory =
                    new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port));
            factory.afterPropertiesSet();
            factory.start();
            use(factory);
            factory.destroy();
        }
    }
}
