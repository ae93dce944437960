package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.DuplicateRejectedException;
import io.idempotency.Execution;
import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotentOperation;
import io.idempotency.OnDuplicate;
import io.idempotency.ReplayedFailureException;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.KeyScopeResolver;
import io.idempotency.spi.OutcomePolicy;
import io.idempotency.spi.OutcomePolicy.Disposition;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.ResultCodec;
import io.idempotency.spi.ResultTransformer;
import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
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
        runner.withClassLoader(new FilteredClassLoader("io.idempotency.jdbc", "io.idempotency.redis"))
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .startsWith("There is no idempotency store"));
    }

    @Test
    void saysThatMemoryForgets(CapturedOutput output) {
        inMemory.run(context -> assertThat(output).containsOnlyOnce("Records are kept in the memory of this process"));
    }

    @Test
    void theTemplateRunsUnprotectedWhereTheModeIsOff() {
        inMemory.withPropertyValues("idempotency.mode=off")
                .run(context -> assertThat(effectsOfTwoCalls(context.getBean(IdempotencyTemplate.class)))
                        .isEqualTo(2));
    }

    @Test
    void oneOperationOfTheTemplateCanBeSwitchedOff() {
        inMemory.withBean(IdempotentOperation.class, () -> GREET)
                .withPropertyValues("idempotency.operations.greet.mode=off")
                .run(context -> assertThat(effectsOfTwoCalls(context.getBean(IdempotencyTemplate.class)))
                        .isEqualTo(2));
        inMemory.withBean(IdempotentOperation.class, () -> GREET)
                .withPropertyValues("idempotency.mode=off", "idempotency.operations.greet.mode=enforce")
                .run(context -> assertThat(effectsOfTwoCalls(context.getBean(IdempotencyTemplate.class)))
                        .isEqualTo(1));
    }

    private static int effectsOfTwoCalls(IdempotencyTemplate template) {
        AtomicInteger effects = new AtomicInteger();
        for (int i = 0; i < 2; i++) {
            template.execute(GREET, "k", () -> "hello " + effects.incrementAndGet());
            template.execute(GREET, "k", new byte[0], () -> "hello");
        }
        return effects.get();
    }

    @Test
    void propertiesOverrideWhatTheTemplatesOperationSays() {
        IdempotentOperation<String> rejecting = IdempotentOperation.named("greet", String.class)
                .onDuplicate(OnDuplicate.REJECT)
                .build();
        inMemory.withBean(IdempotentOperation.class, () -> rejecting).run(context -> {
            IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
            template.execute(rejecting, "k", () -> "hello");
            assertThatExceptionOfType(DuplicateRejectedException.class)
                    .isThrownBy(() -> template.execute(rejecting, "k", () -> "hello"));
        });
        inMemory.withBean(IdempotentOperation.class, () -> rejecting)
                .withPropertyValues("idempotency.operations.greet.on-duplicate=replay")
                .run(context -> {
                    IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
                    template.execute(rejecting, "k", () -> "hello");
                    assertThat(template.execute(rejecting, "k", () -> "hello").replayed())
                            .isTrue();
                });
    }

    @Test
    void refusesADurationOfATemplatesOperation() {
        IdempotentOperation<String> forEver = IdempotentOperation.named("greet", String.class)
                .retention(Duration.ofDays(40_000))
                .build();
        inMemory.withBean(IdempotentOperation.class, () -> forEver)
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .isEqualTo("retention of IdempotentOperation greet is '40000d' and must be 36500d at most."));
    }

    @Test
    void refusesAPropertyThatMayMeanTwoOperations() {
        inMemory.withBean(
                        "one",
                        IdempotentOperation.class,
                        () -> IdempotentOperation.named("a-bc").build())
                .withBean(
                        "two",
                        IdempotentOperation.class,
                        () -> IdempotentOperation.named("ab-c").build())
                .withPropertyValues("idempotency.operations.abc.lease=1s")
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .isEqualTo("idempotency.operations.abc may mean each of a-bc, ab-c."));
    }

    @Test
    void usesCodecsTransformersPoliciesAndScopesOfTheApplication() {
        IdempotentOperation<Integer> count =
                IdempotentOperation.named("count", Integer.class).build();
        AtomicInteger tenant = new AtomicInteger();
        inMemory.withBean(ResultCodec.class, IntegerCodec::new)
                .withBean(ResultTransformer.class, Inverting::new)
                .withBean(KeyScopeResolver.class, () -> operation -> "tenant " + tenant.get())
                .withBean(OutcomePolicy.class, () -> (failure, guarantee) -> Disposition.STORE)
                .run(context -> {
                    IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
                    IdempotencyStore store = context.getBean(IdempotencyStore.class);

                    template.execute(count, "k", () -> 5);
                    assertThat(template.execute(count, "k", () -> 6)).isEqualTo(new Execution<>(5, true));
                    assertThat(store.find(RecordId.of("count", "tenant 0", "k"))
                                    .orElseThrow()
                                    .result())
                            .satisfies(result -> {
                                assertThat(result.format()).isEqualTo("int");
                                assertThat(result.transformer()).isEqualTo("inverting");
                            });

                    tenant.incrementAndGet();
                    assertThat(template.execute(count, "k", () -> 7).value()).isEqualTo(7);

                    assertThatExceptionOfType(IllegalStateException.class)
                            .isThrownBy(() -> template.execute(count, "failing", () -> {
                                throw new IllegalStateException("final");
                            }));
                    assertThatExceptionOfType(ReplayedFailureException.class)
                            .isThrownBy(() -> template.execute(count, "failing", () -> 8));
                });
    }

    @Test
    void namedFailuresComeBeforeThePolicyOfTheApplication() {
        IdempotentOperation<String> greet = IdempotentOperation.named("greet", String.class)
                .releaseFailures(IllegalArgumentException.class)
                .build();
        inMemory.withBean(OutcomePolicy.class, () -> (failure, guarantee) -> Disposition.STORE)
                .run(context -> {
                    IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
                    assertThatExceptionOfType(IllegalArgumentException.class)
                            .isThrownBy(() -> template.execute(greet, "k", () -> {
                                throw new IllegalArgumentException("try again");
                            }));
                    assertThat(template.execute(greet, "k", () -> "hello").replayed())
                            .isFalse();
                });
    }

    @Test
    void checksAtStartAlsoWhereBeansAreLazy() {
        inMemory.withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .withPropertyValues("idempotency.operations.nobody.lease=1s")
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .startsWith("idempotency.operations.nobody names no operation"));
    }

    private static final class IntegerCodec implements ResultCodec {

        @Override
        public String id() {
            return "int";
        }

        @Override
        public boolean supports(Type type) {
            return type == Integer.class;
        }

        @Override
        public byte[] encode(Object value, Type type) {
            return value.toString().getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public Object decode(byte[] payload, Type type) {
            return Integer.valueOf(new String(payload, StandardCharsets.US_ASCII));
        }
    }

    private static final class Inverting implements ResultTransformer {

        @Override
        public String id() {
            return "inverting";
        }

        @Override
        public byte[] transform(byte[] payload) {
            byte[] inverted = payload.clone();
            for (int i = 0; i < inverted.length; i++) {
                inverted[i] = (byte) ~inverted[i];
            }
            return inverted;
        }

        @Override
        public byte[] restore(byte[] stored) {
            return transform(stored);
        }
    }
}
