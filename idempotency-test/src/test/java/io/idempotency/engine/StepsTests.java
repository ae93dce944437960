package io.idempotency.engine;

import static io.idempotency.engine.Node.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import io.idempotency.LeaseLostException;
import io.idempotency.OperationInProgressException;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StepsTests {

    private static final Duration LEASE = Duration.ofSeconds(30);

    private final VirtualRuntime runtime = new VirtualRuntime();
    private final InMemoryIdempotencyStore store =
            new InMemoryIdempotencyStore(runtime::nanoTime, runtime.clock, 1000, 1_000_000);
    private final Node a = new Node(store, runtime);
    private final Node b = new Node(store, runtime);
    private final List<String> effects = new ArrayList<>();

    private static OperationSettings.Builder settings() {
        return OperationSettings.of("order", Guarantee.AT_LEAST_ONCE)
                .lease(LEASE)
                .retention(Duration.ofHours(1));
    }

    private static Call order() {
        return call(settings().build(), "k", "10 EUR");
    }

    private String step(String name) {
        return IdempotencyContext.step(name, String.class, () -> effect(name));
    }

    private String effect(String name) {
        effects.add(name);
        return name + " " + effects.size();
    }

    @Test
    void theNextAttemptResumesAfterTheLastFinishedStep() throws Throwable {
        assertThatThrownBy(() -> a.call(order(), attempt -> {
                    step("reserve");
                    step("charge");
                    throw new IllegalArgumentException("no courier");
                }))
                .isInstanceOf(IllegalArgumentException.class);

        String answer = b.call(order(), attempt -> step("reserve") + ", " + step("charge") + ", " + step("ship"));

        assertThat(answer).isEqualTo("reserve 1, charge 2, ship 3");
        assertThat(effects).containsExactly("reserve", "charge", "ship");
        assertThat(b.outcomes).as("steps are no calls").containsExactly("executed");
    }

    @Test
    void aStepThatThrowsIsNotFinished() throws Throwable {
        assertThatThrownBy(() -> a.call(order(), attempt -> {
                    IdempotencyContext.step("charge", () -> {
                        effect("refused");
                        throw new IOException("card refused");
                    });
                    return "unreached";
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("card refused");

        a.call(order(), attempt -> {
            IdempotencyContext.step("charge", () -> effect("charged"));
            return "done";
        });

        assertThat(effects).containsExactly("refused", "charged");
    }

    @Test
    void aTakeoverResumesWhereTheVanishedAttemptWas() throws Throwable {
        VirtualRuntime ofTheDead = new VirtualRuntime();
        Node dead = new Node(store, ofTheDead);
        RunningAttempt vanished =
                ((Decision.Proceed) dead.engine.begin(order())).attempt().orElseThrow();
        try (IdempotencyContext.Scope ignored = vanished.bind()) {
            step("reserve");
        }
        runtime.pass(LEASE);

        a.call(order(), attempt -> step("reserve") + step("charge"));

        assertThat(effects).containsExactly("reserve", "charge");
    }

    @Test
    void anAttemptThatHasLostItsLeaseBeginsNoFurtherStep() throws Throwable {
        assertThatThrownBy(() -> a.call(order(), attempt -> {
                    step("reserve");
                    store.forget(order().id());
                    b.engine.begin(order());
                    runtime.pass(LEASE.dividedBy(2));
                    return step("charge");
                }))
                .isInstanceOf(LeaseLostException.class);

        assertThat(effects).containsExactly("reserve");
    }

    @Test
    void aStepThatAnEarlierAttemptStillRunsIsNotRunBesideIt() throws Throwable {
        Call unrenewed = call(settings().maxExecution(LEASE).build(), "k", "10 EUR");

        a.call(unrenewed, attempt -> {
            runtime.pass(LEASE.minusSeconds(1));
            IdempotencyContext.step("charge", () -> {
                runtime.pass(Duration.ofSeconds(1));
                assertThatThrownBy(() -> b.call(unrenewed, other -> step("charge")))
                        .isInstanceOf(OperationInProgressException.class);
                effect("charged");
            });
            return "done";
        });

        assertThat(effects).containsExactly("charged");
    }

    @Test
    void anotherPayloadHasNotDoneTheSteps() throws Throwable {
        assertThatThrownBy(() -> a.call(order(), attempt -> {
                    step("reserve");
                    throw new IllegalArgumentException("not enough");
                }))
                .isInstanceOf(IllegalArgumentException.class);

        a.call(call(settings().build(), "k", "5 EUR"), attempt -> step("reserve"));

        assertThat(effects).containsExactly("reserve", "reserve");
    }

    @Test
    void aNewCallAfterTheRetentionBeginsAnew() throws Throwable {
        Call brief = call(settings().retention(Duration.ofSeconds(5)).build(), "k", "10 EUR");
        a.call(brief, attempt -> step("reserve"));
        runtime.pass(Duration.ofSeconds(5));

        a.call(brief, attempt -> step("reserve"));

        assertThat(effects).containsExactly("reserve", "reserve");
    }

    @Test
    void stepsOfOtherKeysAreOtherSteps() throws Throwable {
        a.call(order(), attempt -> step("reserve"));
        a.call(call(settings().build(), "other", "10 EUR"), attempt -> step("reserve"));

        assertThat(effects).hasSize(2);
    }

    @Test
    void childKeysWithinStepsAreTheSameOnEveryAttemptAndDifferBetweenSteps() throws Throwable {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> a.call(order(), attempt -> {
                        for (String name : List.of("one", "two")) {
                            try {
                                IdempotencyContext.step(name, () -> {
                                    keys.add(IdempotencyContext.current()
                                            .orElseThrow()
                                            .childKey("call"));
                                    throw new IllegalArgumentException("not yet");
                                });
                            } catch (IllegalArgumentException ignored) {
                                effect(name);
                            }
                        }
                        throw new IllegalStateException("again");
                    }))
                    .isInstanceOf(IllegalStateException.class);
        }

        assertThat(keys).hasSize(4);
        assertThat(keys.subList(2, 4)).isEqualTo(keys.subList(0, 2));
        assertThat(keys.get(0)).isNotEqualTo(keys.get(1));
    }

    @Test
    void withoutAnAttemptAStepSimplyRuns() {
        assertThat(step("reserve")).isEqualTo("reserve 1");
        assertThat(step("reserve")).isEqualTo("reserve 2");
    }

    @Test
    void aResultThatNoCodecWritesIsRefusedBeforeTheStep() {
        assertThatThrownBy(() -> a.call(
                        order(),
                        attempt -> IdempotencyContext.step("price", BigDecimal.class, () -> {
                                    effect("priced");
                                    return BigDecimal.TEN;
                                })
                                .toString()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("java.math.BigDecimal")
                .hasMessageContaining("order");

        assertThat(effects).isEmpty();
    }

    @Test
    void anActionThatIsOneTransactionHasNoSteps() {
        ScriptedTransactionalStore transactional = new ScriptedTransactionalStore();
        Call exactlyOnce = call(
                OperationSettings.of("order", Guarantee.EXACTLY_ONCE)
                        .transactions(new ScriptedTransactions(transactional.calls))
                        .build(),
                "k",
                "10 EUR");

        assertThatThrownBy(() -> new Node(transactional, runtime).call(exactlyOnce, attempt -> step("reserve")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("AT_LEAST_ONCE");

        assertThat(effects).isEmpty();
    }
}
