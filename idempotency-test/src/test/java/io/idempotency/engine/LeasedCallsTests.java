package io.idempotency.engine;

import static io.idempotency.engine.Node.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.idempotency.DuplicateRejectedException;
import io.idempotency.Guarantee;
import io.idempotency.IdempotencyAdmin.State;
import io.idempotency.IdempotencyContext;
import io.idempotency.KeyReusedException;
import io.idempotency.LeaseLostException;
import io.idempotency.OperationInProgressException;
import io.idempotency.OutcomeUnknownException;
import io.idempotency.spi.IdempotencyListener;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class LeasedCallsTests extends LeasedTests {

    private final Node a = new Node(store, runtime);
    private final Node b = new Node(store, runtime);

    /** An owner that never ends: its renewals stop with its process. */
    private void vanish(Call call) {
        VirtualRuntime ofTheDead = new VirtualRuntime();
        Node dead = new Node(store, ofTheDead);
        Decision begun = dead.engine.begin(call);
        assertThat(begun).isInstanceOf(Decision.Proceed.class);
    }

    @Nested
    class Duplicates {

        @Test
        void getTheFirstResultWithoutRunningAgain() throws Throwable {
            assertThat(a.call(pay(), attempt -> effect("paid"))).isEqualTo("paid");

            assertThat(b.call(pay(), attempt -> effect("paid again"))).isEqualTo("paid");

            assertThat(effects).hasValue(1);
            assertThat(a.outcomes).containsExactly("executed");
            assertThat(b.outcomes).containsExactly("replayed");
        }

        @Test
        void areToldToRetryWhileTheFirstRuns() throws Throwable {
            a.call(pay(), attempt -> {
                assertThatThrownBy(() -> b.call(pay(), other -> effect("twice")))
                        .isInstanceOfSatisfying(
                                OperationInProgressException.class,
                                e -> assertThat(e.retryAfter()).isPositive().isLessThanOrEqualTo(LEASE));
                return effect("paid");
            });

            assertThat(effects).hasValue(1);
            assertThat(b.outcomes).containsExactly("in_progress");
        }

        // Case 25: the payload is compared while the first call is still running, and before anything else afterwards.
        @Test
        void withAnotherPayloadAreRefusedInEveryState() throws Throwable {
            Call other = call(settings(Guarantee.AT_LEAST_ONCE).build(), "k", "11 EUR");

            a.call(pay(), attempt -> {
                assertThatThrownBy(() -> b.call(other, x -> effect("twice"))).isInstanceOf(KeyReusedException.class);
                return effect("paid");
            });
            assertThatThrownBy(() -> b.call(other, x -> effect("twice"))).isInstanceOf(KeyReusedException.class);

            assertThat(b.call(pay(), x -> effect("twice"))).isEqualTo("paid");
            assertThat(b.outcomes).containsExactly("key_reused", "key_reused", "replayed");
            assertThat(effects).hasValue(1);
        }

        @Test
        void areRejectedWhereTheOperationSaysSo() throws Throwable {
            Call rejecting = call(
                    settings(Guarantee.AT_LEAST_ONCE).rejectDuplicates(true).build(), "k", "10 EUR");
            a.call(rejecting, attempt -> effect("paid"));
            runtime.pass(Duration.ofMinutes(20));

            assertThatThrownBy(() -> b.call(rejecting, attempt -> effect("twice")))
                    .isInstanceOfSatisfying(
                            DuplicateRejectedException.class,
                            e -> assertThat(e.retryAfter()).isEqualTo(Duration.ofMinutes(40)));
        }

        @Test
        void onTheSameCallStackJoinTheOuterAttempt() throws Throwable {
            String answer = a.call(pay(), outer -> {
                String inner = a.call(pay(), attempt -> {
                    assertThat(attempt).isSameAs(outer);
                    return effect("inner");
                });
                return inner + " in outer";
            });

            assertThat(answer).isEqualTo("inner in outer");
            assertThat(b.call(pay(), attempt -> effect("twice"))).isEqualTo("inner in outer");
            assertThat(effects).hasValue(1);
        }

        @Test
        void withAnotherKeyOnTheSameCallStackAreCallsOfTheirOwn() throws Throwable {
            Call child = call(settings(Guarantee.AT_LEAST_ONCE).build(), "child", "10 EUR");

            a.call(pay(), outer -> effect(a.call(child, inner -> effect("child"))));

            assertThat(effects).hasValue(2);
            assertThat(b.call(child, attempt -> "twice")).isEqualTo("child");
        }

        // Case 26: a purge is for the space, not for the rules.
        @Test
        void runAgainAfterTheRetentionAlthoughNoPurgeRan() throws Throwable {
            a.call(pay(), attempt -> effect("paid"));
            runtime.pass(Duration.ofMinutes(61));

            assertThat(b.call(pay(), attempt -> effect("paid again"))).isEqualTo("paid again");
            assertThat(effects).hasValue(2);
        }
    }

    @Nested
    class AVanishedOwner {

        // Case 1: a dead owner blocks its key for its lease, not for the retention.
        @Test
        void isTakenOverAfterItsLease() throws Throwable {
            vanish(pay());

            runtime.pass(LEASE.minusMillis(1));
            assertThatThrownBy(() -> a.call(pay(), attempt -> effect("paid")))
                    .isInstanceOf(OperationInProgressException.class);
            runtime.pass(Duration.ofMillis(1));
            String answer = a.call(pay(), attempt -> {
                assertThat(IdempotencyContext.current()).get().satisfies(context -> {
                    assertThat(context.takeover()).isTrue();
                    assertThat(context.fencingToken()).isEqualTo(2);
                });
                return effect("paid");
            });

            assertThat(answer).isEqualTo("paid");
            assertThat(a.events).containsExactly("takeover 2");
            assertThat(effects).hasValue(1);
        }

        @Test
        void isNotTakenOverByAnotherPayload() {
            vanish(pay());
            runtime.pass(LEASE);

            Call other = call(settings(Guarantee.AT_LEAST_ONCE).build(), "k", "11 EUR");
            assertThatThrownBy(() -> a.call(other, attempt -> effect("paid"))).isInstanceOf(KeyReusedException.class);
        }

        @Test
        void leavesTheOutcomeUnknownUnderAtMostOnce() {
            vanish(payAtMostOnce());
            runtime.pass(LEASE);

            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> a.call(payAtMostOnce(), attempt -> effect("twice")))
                        .isInstanceOf(OutcomeUnknownException.class);
                runtime.pass(Duration.ofMinutes(15));
            }
            assertThat(effects).hasValue(0);
            assertThat(a.outcomes).containsOnly("outcome_unknown");
        }

        @Test
        void underAtMostOnceIsForgottenOneRetentionAfterItsLease() throws Throwable {
            vanish(payAtMostOnce());
            runtime.pass(LEASE.plusHours(1));

            assertThat(a.call(payAtMostOnce(), attempt -> effect("paid"))).isEqualTo("paid");
        }

        // The promise was made by the attempt that vanished, not by the code that runs now.
        @Test
        void isJudgedByItsOwnGuarantee() {
            vanish(payAtMostOnce());
            runtime.pass(LEASE);

            assertThatThrownBy(() -> a.call(pay(), attempt -> effect("twice")))
                    .isInstanceOf(OutcomeUnknownException.class);
        }

        @Test
        void canBeResolvedAsDone() {
            vanish(payAtMostOnce());
            assertThat(a.engine.admin().resolveAsDone("pay", "", "k")).isFalse();
            runtime.pass(LEASE);

            assertThat(a.engine.admin().resolveAsDone("pay", "", "k")).isTrue();
            assertThat(a.engine.admin().resolveAsDone("pay", "", "k")).isFalse();

            assertThat(a.engine.admin().find("pay", "", "k"))
                    .get()
                    .satisfies(status -> assertThat(status.state()).isEqualTo(State.DONE));
        }

        @Test
        void canBeResolvedAsNotDone() throws Throwable {
            vanish(payAtMostOnce());
            runtime.pass(LEASE);

            assertThat(a.engine.admin().resolveAsNotDone("pay", "", "k")).isTrue();

            assertThat(b.call(payAtMostOnce(), attempt -> effect("paid"))).isEqualTo("paid");
        }
    }

    @Nested
    class TheLease {

        @Test
        void isRenewedWhileTheActionRuns() throws Throwable {
            a.call(pay(), attempt -> {
                for (int i = 0; i < 10; i++) {
                    runtime.pass(LEASE.dividedBy(2));
                    assertThatThrownBy(() -> b.call(pay(), other -> effect("twice")))
                            .isInstanceOf(OperationInProgressException.class);
                }
                return effect("paid");
            });

            assertThat(effects).hasValue(1);
            assertThat(runtime.pending())
                    .as("renewals that outlive their attempt")
                    .isZero();
        }

        @Test
        void isNotRenewedBeyondTheMaximumExecutionTime() throws Throwable {
            Call shortLived = call(
                    settings(Guarantee.AT_LEAST_ONCE)
                            .maxExecution(Duration.ofMinutes(1))
                            .build(),
                    "k",
                    "10 EUR");
            a.call(shortLived, attempt -> {
                runtime.pass(Duration.ofSeconds(91));
                assertThat(b.call(shortLived, other -> effect("of b"))).isEqualTo("of b");
                return "of a";
            });

            assertThat(b.events).containsExactly("takeover 2");
        }

        @Test
        void isNeverRenewedWhereTheMaximumExecutionTimeIsNotLonger() throws Throwable {
            Call unrenewed =
                    call(settings(Guarantee.AT_LEAST_ONCE).maxExecution(LEASE).build(), "k", "10 EUR");

            a.call(unrenewed, attempt -> {
                assertThat(runtime.pending()).isZero();
                return "paid";
            });
        }

        // Case 7, as the design decides it: who lost the key answers with what the record says.
        @Test
        void lostToAnotherOwnerThatStillRunsMeansInProgress() throws Throwable {
            Call unrenewed =
                    call(settings(Guarantee.AT_LEAST_ONCE).maxExecution(LEASE).build(), "k", "10 EUR");
            List<RunningAttempt> ofB = new ArrayList<>();

            assertThatThrownBy(() -> a.call(unrenewed, attempt -> {
                        runtime.pass(LEASE);
                        ofB.add(((Decision.Proceed) b.engine.begin(unrenewed))
                                .attempt()
                                .orElseThrow());
                        return effect("of a");
                    }))
                    .isInstanceOf(OperationInProgressException.class);

            ofB.get(0).finish(new Finish.Store(Node.result("of b"), false));
            assertThat(a.call(unrenewed, attempt -> effect("third"))).isEqualTo("of b");
            assertThat(a.events).containsExactly("lease lost");
        }

        @Test
        void lostToAnotherOwnerThatIsDoneMeansItsResult() throws Throwable {
            Call unrenewed =
                    call(settings(Guarantee.AT_LEAST_ONCE).maxExecution(LEASE).build(), "k", "10 EUR");

            String answer = a.call(unrenewed, attempt -> {
                runtime.pass(LEASE);
                b.call(unrenewed, other -> effect("of b"));
                return effect("of a");
            });

            assertThat(answer).isEqualTo("of b");
            assertThat(a.events).containsExactly("lease lost");
            assertThat(a.outcomes).containsExactly("replayed");
        }

        @Test
        void lostBecauseTheRecordIsGoneLeavesTheResultStanding() throws Throwable {
            String answer = a.call(pay(), attempt -> {
                a.engine.admin().forget("pay", "", "k");
                return effect("paid");
            });

            assertThat(answer).isEqualTo("paid");
            assertThat(b.call(pay(), attempt -> effect("twice"))).isEqualTo("paid");
            assertThat(a.events).containsExactly("lease lost");
        }

        @Test
        void lostIsToldToTheRunningActionByTheNextRenewal() throws Throwable {
            a.call(pay(), attempt -> {
                IdempotencyContext context = IdempotencyContext.current().orElseThrow();
                context.ensureOwned();
                a.engine.admin().forget("pay", "", "k");

                runtime.pass(LEASE.dividedBy(2));

                assertThat(context.leaseLost()).isTrue();
                assertThatThrownBy(context::ensureOwned).isInstanceOf(LeaseLostException.class);
                return "paid";
            });

            assertThat(a.events).containsExactly("lease lost");
        }
    }

    @Nested
    class AFailure {

        @Test
        void reachesTheCallerUnchangedAndFreesTheKey() throws Throwable {
            IllegalStateException failure = new IllegalStateException("no");

            assertThatThrownBy(() -> a.call(pay(), attempt -> {
                        throw failure;
                    }))
                    .isSameAs(failure)
                    .hasNoSuppressedExceptions();

            assertThat(b.call(pay(), attempt -> effect("paid"))).isEqualTo("paid");
            assertThat(a.outcomes).containsExactly("failed");
        }

        @Test
        void thatIsStoredIsTheResult() throws Throwable {
            Call storing = call(
                    settings(Guarantee.AT_LEAST_ONCE)
                            .outcomePolicy(new DefaultOutcomePolicy(List.of(IOException.class), List.of()))
                            .build(),
                    "k",
                    "10 EUR");

            assertThatThrownBy(() -> a.call(storing, attempt -> {
                        throw new IOException("declined");
                    }))
                    .isInstanceOf(IOException.class);

            Completion replay = b.engine.execute(storing, attempt -> new Finish.Release());
            assertThat(replay)
                    .isInstanceOfSatisfying(
                            Completion.Replayed.class,
                            replayed -> assertThat(FailureFormat.read(replayed.result()))
                                    .hasMessage("declined")
                                    .satisfies(e -> assertThat(e.failureType()).isEqualTo("java.io.IOException")));
        }

        @Test
        void thatLeavesTheOutcomeOpenHoldsTheKeyUntilTheLeaseIsOver() throws Throwable {
            assertThatThrownBy(() -> a.call(pay(), attempt -> {
                        throw new IllegalStateException("call failed", new SocketTimeoutException("read timed out"));
                    }))
                    .isInstanceOf(IllegalStateException.class);

            assertThatThrownBy(() -> b.call(pay(), attempt -> effect("twice")))
                    .isInstanceOf(OperationInProgressException.class);
            runtime.pass(LEASE);
            assertThat(b.call(pay(), attempt -> effect("paid"))).isEqualTo("paid");
        }

        // Case 18: an Error or an interruption leaves the outcome open; the throwable and the interrupt flag survive.
        @Test
        void thatIsAnErrorOrAnInterruptionIsHeldAndPassedOnUntouched() {
            for (Throwable failure :
                    List.of(new StackOverflowError(), new AssertionError("no"), new InterruptedException("stopped"))) {
                Call own = call(
                        settings(Guarantee.AT_LEAST_ONCE).build(),
                        failure.getClass().getName(),
                        "");

                assertThatThrownBy(() -> a.call(own, attempt -> {
                            if (failure instanceof InterruptedException) {
                                Thread.currentThread().interrupt();
                            }
                            throw failure;
                        }))
                        .isSameAs(failure);

                assertThat(Thread.interrupted()).isEqualTo(failure instanceof InterruptedException);
                assertThatThrownBy(() -> b.call(own, attempt -> "twice"))
                        .isInstanceOf(OperationInProgressException.class);
            }
        }

        @Test
        void isHeldUnderAtMostOnceUnlessItProvesThatNothingHappened() throws Throwable {
            assertThatThrownBy(() -> a.call(payAtMostOnce(), attempt -> {
                        throw new IllegalStateException(new ConnectException("refused"));
                    }))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> a.call(payAtMostOnce(), attempt -> {
                        throw new IllegalStateException("who knows");
                    }))
                    .isInstanceOf(IllegalStateException.class);

            runtime.pass(LEASE);
            assertThatThrownBy(() -> b.call(payAtMostOnce(), attempt -> effect("twice")))
                    .isInstanceOf(OutcomeUnknownException.class);
        }
    }

    @Nested
    class Waiting {

        private Call waiting(Duration atMost) {
            return call(settings(Guarantee.AT_LEAST_ONCE).waitAtMost(atMost).build(), "k", "10 EUR");
        }

        @Test
        void endsWithTheResultOfTheFirst() throws Throwable {
            RunningAttempt first =
                    ((Decision.Proceed) a.engine.begin(pay())).attempt().orElseThrow();
            runtime.schedule(Duration.ofSeconds(1), () -> first.finish(new Finish.Store(Node.result("paid"), false)));

            assertThat(b.call(waiting(Duration.ofSeconds(5)), attempt -> effect("twice")))
                    .isEqualTo("paid");
            assertThat(effects).hasValue(0);
        }

        // Case 15: nothing moves the deadline.
        @Test
        void endsAtItsDeadlineHoweverOftenTheKeyChangesHands() {
            Runnable fail = new Runnable() {
                @Override
                public void run() {
                    Decision begun = a.engine.begin(pay());
                    RunningAttempt attempt =
                            ((Decision.Proceed) begun).attempt().orElseThrow();
                    runtime.schedule(Duration.ofMillis(300), () -> {
                        attempt.fail(new IllegalStateException("no"));
                        run();
                    });
                }
            };
            fail.run();
            long start = runtime.nanoTime();

            assertThatThrownBy(() -> b.call(waiting(Duration.ofSeconds(1)), attempt -> effect("twice")))
                    .isInstanceOf(OperationInProgressException.class);

            assertThat(Duration.ofNanos(runtime.nanoTime() - start)).isEqualTo(Duration.ofSeconds(1));
        }

        @Test
        void isForABoundedNumberOfCalls() {
            a.engine.begin(pay());
            IdempotencyEngine none =
                    IdempotencyEngine.on(store).runtime(runtime).maxWaiters(0).build();
            long start = runtime.nanoTime();

            assertThatThrownBy(() -> none.execute(waiting(Duration.ofSeconds(5)), attempt -> new Finish.Release()))
                    .isInstanceOf(OperationInProgressException.class);

            assertThat(runtime.nanoTime()).isEqualTo(start);
        }

        @Test
        void endsWhenTheThreadIsInterruptedAndKeepsTheFlag() {
            a.engine.begin(pay());
            Thread.currentThread().interrupt();

            assertThatThrownBy(() -> b.call(waiting(Duration.ofSeconds(5)), attempt -> effect("twice")))
                    .isInstanceOf(OperationInProgressException.class);

            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void aChildKeyIsTheSameOnEveryAttemptAndAUuid() throws Throwable {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            catchThrowable(() -> a.call(pay(), attempt -> {
                keys.add(IdempotencyContext.current().orElseThrow().childKey("charge"));
                keys.add(IdempotencyContext.current().orElseThrow().childKey("mail"));
                throw new IllegalStateException("no");
            }));
        }

        assertThat(keys.subList(0, 2)).isEqualTo(keys.subList(2, 4)).doesNotHaveDuplicates();
        assertThat(UUID.fromString(keys.get(0)).version()).isEqualTo(8);
        assertThat(UUID.fromString(keys.get(0)).variant()).isEqualTo(2);
        assertThat(IdempotencyContext.current()).isEmpty();
    }

    @Test
    void anotherThreadHasTheContextWhileItIsBound() throws Throwable {
        List<String> keys = new ArrayList<>();

        a.call(pay(), attempt -> {
            IdempotencyContext context = IdempotencyContext.current().orElseThrow();
            keys.add(context.childKey("charge"));
            CompletableFuture.runAsync(() -> {
                        assertThat(IdempotencyContext.current()).isEmpty();
                        try (IdempotencyContext.Scope ignored = IdempotencyContext.bind(context)) {
                            keys.add(IdempotencyContext.current().orElseThrow().childKey("charge"));
                            IdempotencyContext.step("ship", () -> effect("shipped"));
                        }
                        assertThat(IdempotencyContext.current()).isEmpty();
                    })
                    .join();
            IdempotencyContext.step("ship", () -> effect("shipped twice"));
            return effect("paid");
        });

        assertThat(keys).hasSize(2);
        assertThat(keys.get(1)).isEqualTo(keys.get(0));
        assertThat(effects).as("the step of the other thread, and the action").hasValue(2);
    }

    @Test
    void aListenerThatThrowsChangesNothing() throws Throwable {
        IdempotencyEngine engine = IdempotencyEngine.on(store)
                .runtime(runtime)
                .listeners(List.of(
                        new IdempotencyListener() {
                            @Override
                            public void onCallEnded(String operation, String outcome, Duration elapsed) {
                                throw new IllegalStateException("listener");
                            }
                        },
                        a))
                .build();

        Completion completion = engine.execute(pay(), attempt -> new Finish.Store(Node.result("paid"), false));

        assertThat(completion).isEqualTo(new Completion.Executed(true, false));
        assertThat(a.outcomes).containsExactly("executed");
    }
}
