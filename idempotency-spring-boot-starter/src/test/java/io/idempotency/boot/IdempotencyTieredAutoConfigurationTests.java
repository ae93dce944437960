package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.Execution;
import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotentOperation;
import io.idempotency.StoreUnavailableException;
import io.idempotency.support.TieredIdempotencyStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** The tiered store in an application whose Redis is dead. */
@ExtendWith(OutputCaptureExtension.class)
class IdempotencyTieredAutoConfigurationTests {

    private static final IdempotentOperation<String> GREET =
            IdempotentOperation.named("greet", String.class).build();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    IdempotencyAutoConfiguration.class,
                    IdempotencyJdbcAutoConfiguration.class,
                    IdempotencyMetricsAutoConfiguration.class,
                    IdempotencyPurgeAutoConfiguration.class,
                    IdempotencyRedisAutoConfiguration.class,
                    IdempotencyTieredAutoConfiguration.class,
                    IdempotencyHealthBoot3AutoConfiguration.class))
            .withBean("dataSource", DataSource.class, TestDataSources::h2)
            .withBean("redis", RedisConnectionFactory.class, DeadRedis::factory)
            .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
            .withPropertyValues("idempotency.store=tiered");

    @Test
    void deadRedisChangesNothingThatCallersSee(CapturedOutput output) {
        runner.run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(output).containsOnlyOnce("Redis cannot be reached");
            IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
            for (int i = 0; i < 10; i++) {
                assertThat(template.execute(GREET, "k" + i, () -> "hello").replayed())
                        .isFalse();
                assertThat(template.execute(GREET, "k" + i, () -> "again")).isEqualTo(new Execution<>("hello", true));
            }
            assertThat(context.getBean(MeterRegistry.class)
                            .get("idempotency.tier")
                            .tag("result", "unavailable")
                            .counter()
                            .count())
                    .isPositive();
            Health health = context.getBean(HealthIndicator.class).health();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails().get("store").toString()).startsWith("tiered(redis, jdbc(H2 2.");
            assertThat(health.getDetails().get("cache").toString()).startsWith("does not answer");
        });
    }

    @Test
    void nothingIsForgottenThatRedisMayStillAnswerFor() {
        runner.run(context -> {
            context.getBean(IdempotencyTemplate.class).execute(GREET, "k", () -> "hello");
            IdempotencyAdmin admin = context.getBean(IdempotencyAdmin.class);

            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(() -> admin.forget("greet", "", "k"))
                    .withMessageContaining("Redis");

            assertThat(admin.find("greet", "", "k")).isPresent();
        });
    }

    @Test
    void exactlyOnceHolds(CapturedOutput output) {
        runner.withUserConfiguration(Transactions.class)
                .withBean(IdempotentOperation.class, () -> GREET)
                .run(context -> {
                    assertThat(output).contains("greet: EXACTLY_ONCE in tiered(redis, jdbc(H2 ");
                    IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
                    template.execute(GREET, "k", () -> "hello");
                    assertThat(template.execute(GREET, "k", () -> "again")).isEqualTo(new Execution<>("hello", true));
                });
    }

    @Test
    void bothTiersAreClosedWithTheContext() {
        TieredIdempotencyStore[] store = new TieredIdempotencyStore[1];
        runner.run(context -> store[0] = context.getBean(TieredIdempotencyStore.class));

        assertThat(store[0].cacheAnswers()).isFalse();
    }

    @Configuration(proxyBeanMethods = false)
    static class Transactions {

        @Bean
        JdbcTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }
    }
}
