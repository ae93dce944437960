package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotentOperation;
import io.idempotency.KeyReusedException;
import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.RecordId;
import io.idempotency.spring.metrics.MicrometerIdempotencyListener;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class IdempotencyMetricsAutoConfigurationTests {

    private static final IdempotentOperation<String> GREET =
            IdempotentOperation.named("greet", String.class).build();

    private static final RecordId ID = RecordId.of("greet", "", "secret-key");

    private final ApplicationContextRunner withoutRegistry = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    IdempotencyAutoConfiguration.class,
                    IdempotencyInMemoryAutoConfiguration.class,
                    IdempotencyMetricsAutoConfiguration.class))
            .withPropertyValues("idempotency.store=in-memory");

    private final ApplicationContextRunner runner =
            withoutRegistry.withBean(MeterRegistry.class, SimpleMeterRegistry::new);

    @Test
    void countsCallsByOperationAndOutcome() {
        runner.run(context -> {
            IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
            template.execute(GREET, "secret-key", new byte[] {1}, () -> "hello");
            template.execute(GREET, "secret-key", new byte[] {1}, () -> "hello");
            template.execute(GREET, "secret-key", new byte[] {1}, () -> "hello");
            Assertions.assertThatExceptionOfType(KeyReusedException.class)
                    .isThrownBy(() -> template.execute(GREET, "secret-key", new byte[] {2}, () -> "hello"));

            MeterRegistry registry = context.getBean(MeterRegistry.class);
            assertThat(requests(registry, "executed")).isEqualTo(1);
            assertThat(requests(registry, "replayed")).isEqualTo(2);
            assertThat(requests(registry, "key_reused")).isEqualTo(1);
        });
    }

    private static double requests(MeterRegistry registry, String outcome) {
        return registry.get("idempotency.requests")
                .tag("operation", "greet")
                .tag("outcome", outcome)
                .counter()
                .count();
    }

    @Test
    void countsWhatElseTheEngineTells() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        IdempotencyListener listener = new MicrometerIdempotencyListener(registry);

        listener.onTakeover("greet", ID, 2);
        listener.onLeaseLost("greet", ID);
        listener.onCompletionFailed("greet", ID, new IllegalStateException());
        listener.onConflict("greet", ID);
        listener.onWorkOutsideTransaction("greet", "REQUIRES_NEW in Audit.log");
        listener.onTierAsked("hit");
        listener.onTierAsked("hit");
        listener.onPurged(42);
        listener.onPurgeRun(java.time.Duration.ofSeconds(90));

        assertThat(registry.getMeters())
                .extracting(meter -> meter.getId().getName())
                .containsExactlyInAnyOrder(
                        "idempotency.takeovers",
                        "idempotency.lease.lost",
                        "idempotency.complete.failed",
                        "idempotency.unique.conflicts",
                        "idempotency.outside.transaction",
                        "idempotency.tier",
                        "idempotency.purged",
                        "idempotency.purge.lag");
        assertThat(registry.get("idempotency.tier")
                        .tag("result", "hit")
                        .counter()
                        .count())
                .isEqualTo(2);
        assertThat(registry.get("idempotency.purge.lag").timeGauge().value(java.util.concurrent.TimeUnit.SECONDS))
                .isEqualTo(90);
        assertThat(registry.get("idempotency.takeovers")
                        .tag("operation", "greet")
                        .counter()
                        .count())
                .isEqualTo(1);
        assertThat(registry.get("idempotency.purged").counter().count()).isEqualTo(42);
        assertThat(registry.getMeters())
                .flatExtracting(meter -> meter.getId().getTags())
                .noneMatch(tag ->
                        tag.getValue().contains("secret") || tag.getValue().equals(ID.toString()));
        assertThat(registry.getMeters()).extracting(Meter::getId).allMatch(id -> id.getDescription() != null);
    }

    @Test
    void isAbsentWithoutARegistry() {
        withoutRegistry.run(
                context -> assertThat(context).hasNotFailed().doesNotHaveBean(MicrometerIdempotencyListener.class));
    }

    // Case 146.
    @Test
    void isAbsentWithoutMicrometer() {
        withoutRegistry
                .withClassLoader(new FilteredClassLoader("io.micrometer"))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(IdempotencyTemplate.class));
    }

    @Test
    void aListenerOfTheApplicationWins() {
        runner.withBean(
                        "own",
                        MicrometerIdempotencyListener.class,
                        () -> new MicrometerIdempotencyListener(new SimpleMeterRegistry()))
                .run(context -> assertThat(context)
                        .hasSingleBean(MicrometerIdempotencyListener.class)
                        .hasBean("own"));
    }
}
