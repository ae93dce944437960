package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.IdempotencyModes;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.Idempotent;
import io.idempotency.IdempotentOperation;
import io.idempotency.Mode;
import io.idempotency.spi.IdempotencyListener;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.autoconfigure.AutoConfigurations;

/** The mode {@code observe} at methods and at the template, and how modes are switched. */
class ObserveMethodTests extends MethodTests {

    private final Heard heard = new Heard();

    private void observing(BiConsumer<Work, IdempotencyModes> test, String... properties) {
        runner.withConfiguration(AutoConfigurations.of(IdempotencyModesEndpointAutoConfiguration.class))
                .withBean(Work.class)
                .withBean(Heard.class, () -> heard)
                .withPropertyValues("idempotency.mode=observe")
                .withPropertyValues(properties)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    test.accept(context.getBean(Work.class), context.getBean(IdempotencyModes.class));
                });
    }

    @Test
    void runsEveryCallAndTellsWhatItWouldHaveBeen() {
        observing((work, modes) -> {
            assertThat(work.run("k", 1)).isEqualTo(1);
            assertThat(work.run("k", 1)).isEqualTo(2);
            assertThat(work.run("k", 2)).isEqualTo(3);
            assertThat(work.run(" ", 1)).isEqualTo(4);

            heard.awaits("work-run executed", "work-run replayed", "work-run key_reused", "work-run key_invalid");
        });
    }

    @Test
    void passesFailuresOnAndForgetsThem() {
        observing((work, modes) -> {
            assertThatThrownBy(() -> work.fail("k")).isSameAs(Work.FAILURE);
            assertThatThrownBy(() -> work.fail("k")).isSameAs(Work.FAILURE);
            assertThatThrownBy(() -> work.reject("k")).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> work.reject("k")).isInstanceOf(IllegalArgumentException.class);

            heard.awaits("work-fail failed", "work-fail failed", "work-reject executed", "work-reject replayed");
        });
    }

    @Test
    void waitsForTheEndOfAStage() {
        observing((work, modes) -> {
            CompletionStage<String> first = work.later("k");
            work.later("k");
            heard.awaits("work-later in_progress");
            assertThat(first).isSameAs(real(work).stage);
            real(work).stage.complete("done");
            heard.awaits("work-later in_progress", "work-later executed");
            work.later("k");
            heard.awaits("work-later in_progress", "work-later executed", "work-later replayed");
        });
    }

    @Test
    void countsTheSameKeyOnTheSameCallStackOnce() {
        runner.withBean(Outer.class)
                .withBean(Inner.class)
                .withBean(Heard.class, () -> heard)
                .withPropertyValues("idempotency.mode=observe")
                .run(context -> {
                    assertThat(context.getBean(Outer.class).run("k")).isEqualTo("inner k");
                    context.getBean(Outer.class).run("k");
                    heard.awaits("shared executed", "shared replayed");
                });
    }

    @Test
    void keepsTheModeOfACallToItsEnd() {
        observing((work, modes) -> {
            modes.set("work-wait", Mode.ENFORCE);
            CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> work.wait("k"));
            BeanTests.await(real(work).arrived);
            modes.set("work-wait", Mode.OBSERVE);
            real(work).open.countDown();
            int result = first.join();

            assertThat(work.wait("k")).isNotEqualTo(result);
            modes.set("work-wait", Mode.ENFORCE);
            assertThat(work.wait("k")).isEqualTo(result);
            heard.awaits("work-wait replayed");
        });
    }

    @Test
    void holdsForTheTemplate() {
        IdempotentOperation<String> greet =
                IdempotentOperation.named("greet", String.class).build();
        AtomicInteger runs = new AtomicInteger();
        runner.withBean(Heard.class, () -> heard)
                .withBean(IdempotentOperation.class, () -> greet)
                .withPropertyValues("idempotency.operations.greet.mode=observe")
                .run(context -> {
                    IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
                    IdempotencyModes modes = context.getBean(IdempotencyModes.class);
                    for (int i = 1; i <= 2; i++) {
                        assertThat(template.execute(greet, "k", () -> "run " + runs.incrementAndGet())
                                        .value())
                                .isEqualTo("run " + i);
                    }
                    heard.awaits("greet executed", "greet replayed");
                    modes.set("greet", Mode.ENFORCE);
                    template.execute(greet, "k", () -> "run " + runs.incrementAndGet());
                    assertThat(template.execute(greet, "k", () -> "again").value())
                            .isEqualTo("run 3");
                    modes.reset("greet");
                    assertThat(modes.of("greet")).isEqualTo(Mode.OBSERVE);
                });
    }

    @Test
    void isSwitchedByAnEndpoint() {
        runner.withConfiguration(AutoConfigurations.of(IdempotencyModesEndpointAutoConfiguration.class))
                .withBean(Work.class)
                .withPropertyValues("idempotency.operations.work-fail.mode=observe")
                .run(context -> {
                    IdempotencyModesEndpoint endpoint = context.getBean(IdempotencyModesEndpoint.class);
                    assertThat(endpoint.modes())
                            .containsEntry("work-run", "enforce")
                            .containsEntry("work-fail", "observe");

                    endpoint.setMode("Observe");
                    endpoint.setModeOf("work-fail", "enforce");
                    assertThat(endpoint.modes())
                            .containsEntry("work-run", "observe")
                            .containsEntry("work-fail", "enforce");

                    endpoint.setModeOf("work-fail", "default");
                    assertThat(endpoint.modes()).containsEntry("work-fail", "observe");
                    assertThatThrownBy(() -> endpoint.setMode("watch"))
                            .isInstanceOf(InvalidEndpointRequestException.class);
                    assertThatThrownBy(() -> endpoint.setModeOf("nobody", "off"))
                            .isInstanceOf(InvalidEndpointRequestException.class)
                            .hasMessageContaining("work-run");
                });
    }

    @Test
    void staysOffWhereItWasOffAtStart() {
        runner.withBean(Work.class).withPropertyValues("idempotency.mode=off").run(context -> {
            IdempotencyModes modes = context.getBean(IdempotencyModes.class);
            assertThatThrownBy(() -> modes.set(Mode.ENFORCE))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("start with observe");
        });
    }

    static final class Heard implements IdempotencyListener {

        private final List<String> outcomes = new CopyOnWriteArrayList<>();

        @Override
        public void onObserved(String operation, String outcome) {
            outcomes.add(operation + " " + outcome);
        }

        void awaits(String... expected) {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(outcomes).containsExactlyInAnyOrder(expected));
        }
    }

    public static class Work {

        static final IllegalStateException FAILURE = new IllegalStateException("broken");

        final AtomicInteger runs = new AtomicInteger();
        final CompletableFuture<String> stage = new CompletableFuture<>();
        final CountDownLatch arrived = new CountDownLatch(1);
        final CountDownLatch open = new CountDownLatch(1);

        @Idempotent(key = "#key")
        public int run(String key, int amount) {
            return runs.incrementAndGet();
        }

        @Idempotent(key = "#key")
        public int fail(String key) {
            throw FAILURE;
        }

        @Idempotent(key = "#key", storeFailures = IllegalArgumentException.class)
        public int reject(String key) {
            throw new IllegalArgumentException("no");
        }

        @Idempotent(key = "#key")
        public CompletionStage<String> later(String key) {
            return stage;
        }

        @Idempotent(key = "#key")
        public int wait(String key) {
            arrived.countDown();
            BeanTests.await(open);
            return runs.incrementAndGet();
        }
    }

    public static class Outer {

        private final Inner inner;

        Outer(Inner inner) {
            this.inner = inner;
        }

        @Idempotent(operation = "shared", key = "#key")
        public String run(String key) {
            return inner.run(key);
        }
    }

    public static class Inner {

        @Idempotent(operation = "shared", key = "#key")
        public String run(String key) {
            return "inner " + key;
        }
    }
}
