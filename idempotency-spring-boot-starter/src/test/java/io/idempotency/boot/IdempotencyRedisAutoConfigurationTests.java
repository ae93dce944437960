package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotentOperation;
import io.idempotency.StoreUnavailableException;
import io.idempotency.redis.RedisIdempotencyStore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** The Redis store in an application. What it does with a server that answers is tested in the modules that have one. */
@ExtendWith(OutputCaptureExtension.class)
class IdempotencyRedisAutoConfigurationTests {

    private static final IdempotentOperation<String> GREET =
            IdempotentOperation.named("greet", String.class).build();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    IdempotencyAutoConfiguration.class,
                    IdempotencyRedisAutoConfiguration.class,
                    IdempotencyTieredAutoConfiguration.class,
                    IdempotencyHealthBoot3AutoConfiguration.class))
            .withPropertyValues("idempotency.store=redis");

    private final ApplicationContextRunner dead =
            runner.withBean("redis", RedisConnectionFactory.class, DeadRedis::factory);

    // Case 34.
    @Test
    void unreachableServerStopsNobodyFromStartingAndNothingRunsUnprotected(CapturedOutput output) {
        dead.run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(RedisIdempotencyStore.class);
            assertThat(output).containsOnlyOnce("Redis cannot be reached");
            Health health = context.getBean(HealthIndicator.class).health();
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(health.getDetails()).containsEntry("store", "redis").containsKey("error");
            AtomicInteger effects = new AtomicInteger();
            IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(() -> template.execute(GREET, "k", () -> "hello " + effects.incrementAndGet()));
            assertThat(effects).hasValue(0);
        });
    }

    // Case 34.
    @Test
    void whoAsksForItRunsUnprotected(CapturedOutput output) {
        dead.withPropertyValues("idempotency.on-store-failure=proceed").run(context -> {
            IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);

            assertThat(template.execute(GREET, "k", () -> "hello").value()).isEqualTo("hello");

            assertThat(output).contains("The store cannot answer; operation greet");
        });
    }

    @ParameterizedTest
    @CsvSource({
        "idempotency.redis.key-prefix,a b,is not 1 to 100 of the characters",
        "idempotency.redis.wait-replicas,-1,must be between 0 and 100",
        "idempotency.tiered.cache-ttl,1s,must be between 2s and 24h",
        "idempotency.tiered.cache-ttl,25h,must be between 2s and 24h"
    })
    void valueThatCannotBeUsedIsRefusedByName(String property, String value, String reason) {
        dead.withPropertyValues(property + "=" + value)
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .startsWith(property + " is '" + value + "' and " + reason));
    }

    // Case 141.
    @Test
    void ofSeveralFactoriesNoneIsGuessed() {
        ApplicationContextRunner two = dead.withBean("second", RedisConnectionFactory.class, DeadRedis::factory);
        two.run(context -> {
            FailureAnalysis analysis = StartupFailures.analysisOf(context);
            assertThat(analysis.getDescription())
                    .isEqualTo(
                            "There are several RedisConnectionFactory beans and none of them is primary: redis, second.");
            assertThat(analysis.getAction()).contains("idempotency.redis.connection-factory");
        });
        two.withPropertyValues("idempotency.redis.connection-factory=second")
                .run(context -> assertThat(context).hasNotFailed());
        two.withPropertyValues("idempotency.redis.connection-factory=third").run(context -> {
            FailureAnalysis analysis = StartupFailures.analysisOf(context);
            assertThat(analysis.getDescription())
                    .isEqualTo(
                            "idempotency.redis.connection-factory is 'third' and is not the name of a RedisConnectionFactory"
                                    + " bean.");
            assertThat(analysis.getAction()).isEqualTo("There are: redis, second.");
        });
    }

    @Test
    void exactlyOnceIsRefusedWithTheReason() {
        dead.withBean(IdempotentOperation.class, () -> GREET)
                .withPropertyValues("idempotency.operations.greet.guarantee=exactly-once")
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .contains(
                                "EXACTLY_ONCE cannot hold for operation greet",
                                "the store redis has no part in the application's transactions"));
    }

    @Test
    void healthObeysTheSwitchesOfEveryIndicator() {
        dead.withPropertyValues("management.health.idempotency.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
        dead.withPropertyValues("management.health.defaults.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
        dead.withPropertyValues(
                        "management.health.defaults.enabled=false", "management.health.idempotency.enabled=true")
                .run(context -> assertThat(context).hasBean("idempotencyHealthIndicator"));
    }

    // Case 146.
    @Test
    void healthIsNotMissedWithoutActuator() {
        dead.withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("idempotencyHealthIndicator"));
    }
}
