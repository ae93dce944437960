package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.jdbc.JdbcIdempotencyStore;
import io.idempotency.redis.RedisIdempotencyStore;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.support.InMemoryIdempotencyStore;
import io.idempotency.support.TieredIdempotencyStore;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Case 141: which store an application gets. No server is needed to choose one. */
class StoreSelectionTests {

    private final ApplicationContextRunner bare = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    IdempotencyAutoConfiguration.class,
                    IdempotencyInMemoryAutoConfiguration.class,
                    IdempotencyJdbcAutoConfiguration.class,
                    IdempotencyRedisAutoConfiguration.class,
                    IdempotencyTieredAutoConfiguration.class));

    private final ApplicationContextRunner withDataSource =
            bare.withBean("dataSource", DataSource.class, TestDataSources::h2);

    private final ApplicationContextRunner withRedis =
            bare.withBean("redis", RedisConnectionFactory.class, DeadRedis::factory);

    private final ApplicationContextRunner withBoth =
            withDataSource.withBean("redis", RedisConnectionFactory.class, DeadRedis::factory);

    private static ApplicationContextRunner onlyJdbcModule(ApplicationContextRunner runner) {
        return runner.withClassLoader(new FilteredClassLoader("io.idempotency.redis"));
    }

    private static ApplicationContextRunner onlyRedisModule(ApplicationContextRunner runner) {
        return runner.withClassLoader(new FilteredClassLoader("io.idempotency.jdbc"));
    }

    private static ApplicationContextRunner noModule(ApplicationContextRunner runner) {
        return runner.withClassLoader(new FilteredClassLoader("io.idempotency.jdbc", "io.idempotency.redis"));
    }

    private static void assertStore(ApplicationContextRunner runner, Class<? extends IdempotencyStore> type) {
        runner.run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(IdempotencyStore.class);
            assertThat(context.getBean(IdempotencyEngine.class).store()).isInstanceOf(type);
        });
    }

    private static void assertFailure(ApplicationContextRunner runner, String description, String... action) {
        runner.run(context -> {
            FailureAnalysis analysis = StartupFailures.analysisOf(context);
            assertThat(analysis.getDescription()).startsWith(description);
            assertThat(action)
                    .allSatisfy(part -> assertThat(analysis.getAction()).contains(part));
        });
    }

    @Test
    void theOnlyModuleIsTakenWhateverElseIsThere() {
        assertStore(onlyJdbcModule(withBoth), JdbcIdempotencyStore.class);
        assertStore(onlyRedisModule(withBoth), RedisIdempotencyStore.class);
    }

    @Test
    void ofTwoModulesNoneIsGuessed() {
        for (ApplicationContextRunner runner :
                new ApplicationContextRunner[] {bare, withDataSource, withRedis, withBoth}) {
            assertFailure(
                    runner,
                    "The application has two store modules, idempotency-jdbc and idempotency-redis",
                    "idempotency.store",
                    "jdbc",
                    "redis",
                    "tiered");
        }
    }

    @Test
    void ofTwoModulesTheNamedOneIsTaken() {
        assertStore(withBoth.withPropertyValues("idempotency.store=jdbc"), JdbcIdempotencyStore.class);
        assertStore(withBoth.withPropertyValues("idempotency.store=redis"), RedisIdempotencyStore.class);
        assertStore(withBoth.withPropertyValues("idempotency.store=tiered"), TieredIdempotencyStore.class);
        assertStore(withBoth.withPropertyValues("idempotency.store=in-memory"), InMemoryIdempotencyStore.class);
    }

    @Test
    void aStoreOfTheApplicationWinsOverBoth() {
        assertStore(
                withBoth.withBean("own", IdempotencyStore.class, InMemoryIdempotencyStore::onSystemClock),
                InMemoryIdempotencyStore.class);
    }

    @Test
    void withoutAModuleThereIsNone() {
        assertFailure(
                noModule(withBoth),
                "There is no idempotency store: the application has no store module",
                "idempotency-jdbc",
                "idempotency-redis");
    }

    @Test
    void aNamedStoreNeedsItsModules() {
        String isMissing = "idempotency.store is '%s' and its module is not there";
        assertFailure(
                onlyJdbcModule(withBoth).withPropertyValues("idempotency.store=redis"),
                isMissing.formatted("redis"),
                "Add the dependency idempotency-redis");
        assertFailure(
                onlyRedisModule(withBoth).withPropertyValues("idempotency.store=jdbc"),
                isMissing.formatted("jdbc"),
                "Add the dependency idempotency-jdbc");
        assertFailure(
                onlyJdbcModule(withBoth).withPropertyValues("idempotency.store=tiered"),
                isMissing.formatted("tiered"),
                "Add the dependency idempotency-redis,");
        assertFailure(
                onlyRedisModule(withBoth).withPropertyValues("idempotency.store=tiered"),
                isMissing.formatted("tiered"),
                "Add the dependency idempotency-jdbc,");
        assertFailure(
                noModule(withBoth).withPropertyValues("idempotency.store=tiered"),
                isMissing.formatted("tiered"),
                "Add the dependency idempotency-jdbc and idempotency-redis,");
    }

    @Test
    void aStoreNeedsWhatItIsMadeOf() {
        String noDataSource =
                "There is no idempotency store: the application has the module idempotency-jdbc, but no DataSource bean";
        String noRedis =
                "There is no idempotency store: the application has the module idempotency-redis, but no RedisConnectionFactory bean";
        assertFailure(onlyRedisModule(bare), noRedis, "spring-boot-starter-data-redis");
        assertFailure(withDataSource.withPropertyValues("idempotency.store=redis"), noRedis);
        assertFailure(withDataSource.withPropertyValues("idempotency.store=tiered"), noRedis);
        assertFailure(withRedis.withPropertyValues("idempotency.store=tiered"), noDataSource, "spring.datasource.url");
        assertFailure(withRedis.withPropertyValues("idempotency.store=jdbc"), noDataSource);
    }

    // Case 146.
    @Test
    void noStoreMissesTheOtherOnesLibraries() {
        onlyJdbcModule(withDataSource)
                .withClassLoader(new FilteredClassLoader("io.idempotency.redis", "org.springframework.data.redis"))
                .run(context -> assertThat(context).hasNotFailed());
        withRedis
                .withClassLoader(new FilteredClassLoader("io.idempotency.jdbc", "org.springframework.jdbc"))
                .run(context -> assertThat(context).hasNotFailed());
    }
}
