package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Execution;
import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotentOperation;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class IdempotencyAutoConfigurationTests {

    private static final IdempotentOperation<String> GREET =
            IdempotentOperation.named("greet", String.class).build();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    IdempotencyAutoConfiguration.class, IdempotencyInMemoryAutoConfiguration.class));

    private final ApplicationContextRunner inMemory = runner.withPropertyValues("idempotency.store=in-memory");

    @Test
    void givesTheEngineTheTemplateAndTheOperatorsWay() {
        inMemory.run(context -> assertThat(context)
                .hasSingleBean(IdempotencyEngine.class)
                .hasSingleBean(IdempotencyTemplate.class)
                .hasSingleBean(IdempotencyAdmin.class)
                .hasSingleBean(IdempotentMethods.class));
    }

    @Test
    void theTemplateReplays() {
        inMemory.run(context -> {
            IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
            AtomicInteger effects = new AtomicInteger();

            template.execute(GREET, "k", () -> "hello " + effects.incrementAndGet());
            Execution<String> retry = template.execute(GREET, "k", () -> "hello " + effects.incrementAndGet());

            assertThat(retry).isEqualTo(new Execution<>("hello 1", true));
            assertThat(effects).hasValue(1);
        });
    }

    @Test
    void isAbsentWhereItIsDisabled() {
        inMemory.withPropertyValues("idempotency.enabled=false")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(IdempotencyEngine.class)
                        .doesNotHaveBean(IdempotencyStore.class)
                        .doesNotHaveBean(IdempotencyTemplate.class));
    }

    @Test
    void aStoreOfTheApplicationWins() {
        IdempotencyStore own = InMemoryIdempotencyStore.onSystemClock();

        inMemory.withBean("own", IdempotencyStore.class, () -> own)
                .run(context -> assertThat(
                                context.getBean(IdempotencyEngine.class).store())
                        .isSameAs(own));
    }

    // Case 141.
    @Test
    void refusesTwoStoresByTheirNames() {
        runner.withBean("one", IdempotencyStore.class, InMemoryIdempotencyStore::onSystemClock)
                .withBean("two", IdempotencyStore.class, InMemoryIdempotencyStore::onSystemClock)
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .isEqualTo("There are several idempotency stores: the beans one, two."));
    }

    @Test
    void takesThePrimaryOfTwoStores() {
        IdempotencyStore primary = InMemoryIdempotencyStore.onSystemClock();

        runner.withBean("one", IdempotencyStore.class, InMemoryIdempotencyStore::onSystemClock)
                .withBean("two", IdempotencyStore.class, () -> primary, definition -> definition.setPrimary(true))
                .run(context -> assertThat(
                                context.getBean(IdempotencyEngine.class).store())
                        .isSameAs(primary));
    }

    @Test
    void neverFallsBackToMemory() {
        runner.run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                .startsWith("There is no idempotency store"));
    }

    @Test
    void saysWhichModuleAStoreNeeds() {
        runner.withPropertyValues("idempotency.store=redis").run(context -> {
            assertThat(StartupFailures.analysisOf(context).getDescription())
                    .isEqualTo("idempotency.store is 'redis' and its module is not there.");
            assertThat(StartupFailures.analysisOf(context).getAction())
                    .isEqualTo("Add the dependency idempotency-redis, or set another store.");
        });
        runner.withPropertyValues("idempotency.store=tiered")
                .run(context -> assertThat(StartupFailures.analysisOf(context).getAction())
                        .contains("idempotency-redis"));
    }
}
