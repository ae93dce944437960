package io.idempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.it.servers.Ports;
import io.idempotency.it.servers.RedisBinary;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class RedisServerChecksTests {

    private static final Duration LEASE = Duration.ofSeconds(30);

    private static RedisServer server;

    private RedisConnectionFactory factory = Factories.lettuce(server.port(), Duration.ofSeconds(10));

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @AfterEach
    void undo() throws Exception {
        ((DisposableBean) factory).destroy();
        server.does(redis -> redis.configSet("maxmemory-policy", "noeviction"));
    }

    private RedisServerChecks checks() {
        return RedisServerChecks.of(RedisIdempotencyStore.builder(factory).build(), LEASE);
    }

    private void use(RedisConnectionFactory other) throws Exception {
        ((DisposableBean) factory).destroy();
        factory = other;
    }

    @Test
    void soundServerGivesNoWarning() {
        RedisServerChecks checks = checks();

        assertThat(checks.warnings()).isEmpty();
        assertThat(checks.version()).hasValue("7.0.15");
        assertThat(checks.maxmemoryPolicy()).hasValue("noeviction");
    }

    // Case 37.
    @Test
    void evictionIsOneWarningThatNamesThePolicy() {
        server.does(redis -> redis.configSet("maxmemory-policy", "allkeys-lru"));

        RedisServerChecks checks = checks();

        assertThat(checks.warnings())
                .hasSize(1)
                .allSatisfy(text -> assertThat(text).contains("allkeys-lru"));
        assertThat(checks.maxmemoryPolicy()).hasValue("allkeys-lru");
    }

    @Test
    void evictionOfKeysWithAnExpiryConcernsEveryRecord() {
        server.does(redis -> redis.configSet("maxmemory-policy", "volatile-ttl"));

        assertThat(checks().warnings()).hasSize(1);
    }

    @Test
    void userWithoutTheRightToAskIsNoFailure() throws Exception {
        server.does(redis -> redis.aclSetUser("modest", "on", ">secret", "~*", "+@all", "-@dangerous"));
        RedisStandaloneConfiguration modest = Factories.standalone(server.port());
        modest.setUsername("modest");
        modest.setPassword("secret");
        use(Factories.impatientLettuce(modest));

        RedisServerChecks checks = checks();

        assertThat(checks.warnings()).isEmpty();
        assertThat(checks.version()).isEmpty();
        assertThat(checks.maxmemoryPolicy()).isEmpty();
    }

    @Test
    void unreachableServerIsAWarningAndNoFailure() throws Exception {
        use(Factories.lettuce(Ports.free(), Duration.ofSeconds(10)));

        RedisServerChecks checks = checks();

        assertThat(checks.warnings())
                .hasSize(1)
                .allSatisfy(text -> assertThat(text).startsWith("Redis cannot be reached"));
        assertThat(checks.version()).isEmpty();
    }

    // Losing a copy costs a look into the database and nothing more; nobody waits for the cache.
    @Test
    void cacheMayEvictAndHaveAnyTimeout() throws Exception {
        server.does(redis -> redis.configSet("maxmemory-policy", "allkeys-lru"));
        use(Factories.started(new LettuceConnectionFactory(Factories.standalone(server.port()))));

        RedisServerChecks checks =
                RedisServerChecks.of(RedisResultCache.builder(factory).build());

        assertThat(checks.warnings()).isEmpty();
        assertThat(checks.maxmemoryPolicy()).hasValue("allkeys-lru");
    }

    @Test
    void timeoutThatNobodySetIsAWarning() throws Exception {
        use(Factories.started(new LettuceConnectionFactory(Factories.standalone(server.port()))));

        assertThat(checks().warnings())
                .hasSize(1)
                .allSatisfy(text -> assertThat(text).contains("60000 ms", "not set", "spring.data.redis.timeout"));
        assertThat(RedisURI.DEFAULT_TIMEOUT).isEqualTo(60);
    }

    @Test
    void timeoutLongerThanAThirdOfTheLeaseIsAWarning() throws Exception {
        use(Factories.lettuce(server.port(), Duration.ofMillis(10_001)));
        assertThat(checks().warnings())
                .hasSize(1)
                .allSatisfy(text -> assertThat(text)
                        .contains("10001 ms", "10000 ms", "spring.data.redis.timeout")
                        .doesNotContain("not set"));

        use(Factories.jedis(server.port(), Duration.ofMillis(10_001)));
        assertThat(checks().warnings()).hasSize(1);

        use(Factories.jedis(server.port(), Duration.ofMillis(10_000)));
        assertThat(checks().warnings()).isEmpty();
    }

    @Test
    void unlimitedTimeoutIsAWarning() throws Exception {
        use(Factories.jedis(server.port(), Duration.ZERO));

        assertThat(checks().warnings())
                .hasSize(1)
                .allSatisfy(text -> assertThat(text).contains("unlimited"));
    }

    @Test
    void waitingForReplicasOnASharedConnectionIsAWarning() throws Exception {
        RedisIdempotencyStore waiting =
                RedisIdempotencyStore.builder(factory).waitReplicas(1).build();
        assertThat(RedisServerChecks.of(waiting, LEASE).warnings())
                .hasSize(1)
                .allSatisfy(text -> assertThat(text).contains("shareNativeConnection"));

        JedisConnectionFactory jedis = Factories.jedis(server.port(), Duration.ofSeconds(1));
        use(jedis);
        assertThat(RedisServerChecks.of(
                                RedisIdempotencyStore.builder(jedis)
                                        .waitReplicas(1)
                                        .build(),
                                LEASE)
                        .warnings())
                .isEmpty();
    }

    @Test
    void oldServerIsAWarning() throws Exception {
        for (String tooOld : List.of("2.8.24", "5.0.14", "6.0.20")) {
            assertThat(RedisServerChecks.isTooOld(tooOld)).isTrue();
        }
        for (String fine : List.of("6.2.0", "6.2.11", "7.0.15", "8.2.1", "10.0.0", "unknown")) {
            assertThat(RedisServerChecks.isTooOld(fine)).isFalse();
        }
        try (RedisServer redis6 = RedisServer.start(RedisBinary.REDIS_6)) {
            use(Factories.jedis(redis6.port(), Duration.ofSeconds(5)));
            assertThat(checks().version())
                    .hasValueSatisfying(version -> assertThat(version).startsWith("6.2."));
            assertThat(checks().warnings()).isEmpty();
        }
    }
}
