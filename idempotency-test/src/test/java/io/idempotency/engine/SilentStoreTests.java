package io.idempotency.engine;

import static io.idempotency.engine.Node.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import io.idempotency.OperationInProgressException;
import io.idempotency.ResultUnreadableException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.Owner;
import io.idempotency.spi.ResultTransformer;
import io.idempotency.spi.StoredResult;
import io.idempotency.test.FaultyStore;
import java.time.Duration;
import java.util.Arrays;
import java.util.UUID;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Dead right before, dead right after, the answer lost: for each step of a leased call. */
class SilentStoreTests extends LeasedTests {

    private final FaultyStore faulty = FaultyStore.around(store);
    private final Node a = new Node(faulty.store(), runtime);
    private final Node b = new Node(store, runtime);

    @Nested
    class AtTheClaim {

        @Test
        void meansThatNothingRuns() {
            faulty.before("tryClaim").fail();

            assertThatThrownBy(() -> a.call(pay(), attempt -> effect("paid")))
                    .isInstanceOf(StoreUnavailableException.class);

            assertThat(effects).hasValue(0);
            assertThat(a.outcomes).containsExactly("store_unavailable");
        }

        @Test
        void meansUnprotectedOnlyWhereThatIsWanted() throws Throwable {
            faulty.before("tryClaim").fail();
            Call proceeding = call(
                    settings(Guarantee.AT_LEAST_ONCE)
                            .proceedOnStoreFailure(true)
                            .build(),
                    "k",
                    "10 EUR");

            String answer = a.call(proceeding, attempt -> {
                assertThat(IdempotencyContext.current()).isEmpty();
                return effect("paid");
            });

            assertThat(answer).isEqualTo("paid");
            assertThat(a.outcomes).containsExactly("unprotected");
        }

        // The claim stands in the store although nobody knows: it would block the key, under AT_MOST_ONCE for the
        // retention.
        @Test
        void withTheClaimMadeFreesTheKeyOfAnActionThatNeverRan() throws Throwable {
            faulty.after("tryClaim").fail();
            assertThatThrownBy(() -> a.call(payAtMostOnce(), attempt -> effect("paid")))
                    .isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(() -> b.call(payAtMostOnce(), attempt -> effect("paid")))
                    .isInstanceOf(OperationInProgressException.class);

            runtime.pass(Duration.ofMillis(100));

            assertThat(b.call(payAtMostOnce(), attempt -> effect("paid"))).isEqualTo("paid");
            assertThat(effects).hasValue(1);
        }

        @Test
        void isFollowedByReleasesUntilOneIsAnsweredALeaseLater() {
            faulty.before("tryClaim").fail();
            assertThatThrownBy(() -> a.call(payAtMostOnce(), attempt -> effect("paid")))
                    .isInstanceOf(StoreUnavailableException.class);
            faulty.before("release").failAlways();
            runtime.pass(LEASE.multipliedBy(2));
            faulty.reset();

            runtime.pass(Duration.ofMinutes(1));

            assertThat(faulty.calls()).containsExactly("release");
            assertThat(runtime.pending()).isZero();
        }

        // The command was under way for longer than the first release took.
        @Test
        void withAClaimThatArrivesLateStillFreesTheKey() throws Throwable {
            Call call = payAtMostOnce();
            faulty.before("tryClaim").run(() -> {
                runtime.schedule(
                        Duration.ofSeconds(20),
                        () -> store.tryClaim(call.claimBy(new Owner(new UUID(System.identityHashCode(runtime), 1)))));
                throw new StoreUnavailableException("no answer", null);
            });
            assertThatThrownBy(() -> a.call(call, attempt -> effect("paid")))
                    .isInstanceOf(StoreUnavailableException.class);

            runtime.pass(LEASE.multipliedBy(2));

            assertThat(b.call(call, attempt -> effect("paid"))).isEqualTo("paid");
        }

        @Test
        void neverTouchesTheRecordOfAnother() throws Throwable {
            faulty.before("tryClaim").fail();
            assertThatThrownBy(() -> a.call(pay(), attempt -> effect("paid")))
                    .isInstanceOf(StoreUnavailableException.class);

            b.call(pay(), attempt -> {
                runtime.pass(LEASE.multipliedBy(2));
                return effect("paid");
            });

            assertThat(a.call(pay(), attempt -> effect("twice"))).isEqualTo("paid");
        }
    }

    // Case 13: the effect happened, so the caller gets his result, and the key is not freed for a second run.
    @Nested
    class AtTheCompletion {

        @Test
        void isTriedAgain() throws Throwable {
            faulty.before("complete").fail();
            faulty.before("complete").fail();

            assertThat(a.call(pay(), attempt -> effect("paid"))).isEqualTo("paid");

            assertThat(b.call(pay(), attempt -> effect("twice"))).isEqualTo("paid");
            assertThat(a.events).isEmpty();
            assertThat(Duration.ofNanos(runtime.clock.nanoTime())).as("pauses").isEqualTo(Duration.ofMillis(50 + 200));
        }

        // Who is told to stop does not wait; the effect has happened all the same.
        @Test
        void isNotTriedAgainByAThreadThatIsInterrupted() throws Throwable {
            faulty.before("complete").failAlways();

            String answer = a.call(pay(), attempt -> {
                Thread.currentThread().interrupt();
                return effect("paid");
            });

            assertThat(Thread.interrupted()).as("the flag is kept").isTrue();
            assertThat(answer).isEqualTo("paid");
            assertThat(faulty.calls()).filteredOn("complete"::equals).hasSize(1);
            assertThat(a.events).containsExactly("completion failed");
        }

        @Test
        void withTheResultStoredIsRecognisedByItsOwner() throws Throwable {
            faulty.after("complete").fail();

            assertThat(a.call(pay(), attempt -> effect("paid"))).isEqualTo("paid");

            assertThat(a.events).isEmpty();
            assertThat(a.outcomes).containsExactly("executed");
        }

        @Test
        void forGoodGivesTheCallerHisResultAndHoldsTheKey() throws Throwable {
            faulty.before("complete").failAlways();

            assertThat(a.call(pay(), attempt -> effect("paid"))).isEqualTo("paid");

            assertThat(a.events).containsExactly("completion failed");
            assertThatThrownBy(() -> b.call(pay(), attempt -> effect("twice")))
                    .isInstanceOf(OperationInProgressException.class);
            runtime.pass(LEASE);
            assertThat(b.call(pay(), attempt -> effect("again"))).isEqualTo("again");
            assertThat(b.events).containsExactly("takeover 2");
        }

        @Test
        void afterALossIsTriedAgain() throws Throwable {
            faulty.before("recordDone").fail();
            faulty.after("recordDone").fail();

            String answer = a.call(pay(), attempt -> {
                a.engine.admin().forget("pay", "", "k");
                return effect("paid");
            });

            assertThat(answer).isEqualTo("paid");
            assertThat(a.events).containsExactly("lease lost");
            assertThat(b.call(pay(), attempt -> effect("twice"))).isEqualTo("paid");
        }

        @Test
        void afterALossGivesNoAnswerWhereAnotherAttemptMayHaveGivenOne() throws Throwable {
            faulty.before("renew").failAlways();
            faulty.before("recordDone").failAlways();

            assertThatThrownBy(() -> a.call(pay(), attempt -> {
                        runtime.pass(LEASE);
                        assertThat(b.call(pay(), other -> effect("paid by b"))).isEqualTo("paid by b");
                        return effect("paid by a");
                    }))
                    .isInstanceOf(StoreUnavailableException.class);

            assertThat(a.events).containsExactly("lease lost", "completion failed");
            assertThat(b.call(pay(), attempt -> effect("again"))).isEqualTo("paid by b");
        }

        // A renewal that comes while the slow write is under way must neither lose the key nor call it lost.
        @Test
        void thatIsSlowIsCoveredByRenewals() throws Throwable {
            faulty.before("complete").run(() -> runtime.pass(LEASE.multipliedBy(3)));

            assertThat(a.call(pay(), attempt -> effect("paid"))).isEqualTo("paid");

            assertThat(b.call(pay(), attempt -> effect("twice"))).isEqualTo("paid");
            assertThat(a.events).isEmpty();
        }

        @Test
        void thatIsSlowAfterItWasDoneIsNoLoss() throws Throwable {
            faulty.after("complete").run(() -> runtime.pass(LEASE.multipliedBy(3)));

            assertThat(a.call(pay(), attempt -> effect("paid"))).isEqualTo("paid");
            assertThat(a.events).isEmpty();
        }
    }

    // Case 19: our own failure never masks the exception of the business.
    @Nested
    class AtTheRelease {

        @Test
        void isAddedToTheFailureOfTheActionAndMadeUpForLater() throws Throwable {
            IllegalStateException failure = new IllegalStateException("rejected");
            faulty.before("release").fail();

            assertThatThrownBy(() -> a.call(pay(), attempt -> {
                        throw failure;
                    }))
                    .isSameAs(failure)
                    .satisfies(e -> assertThat(e.getSuppressed())
                            .singleElement()
                            .isInstanceOf(StoreUnavailableException.class));
            assertThat(a.events).containsExactly("completion failed");

            runtime.pass(Duration.ofMillis(100));
            assertThat(b.call(pay(), attempt -> effect("paid"))).isEqualTo("paid");
        }

        @Test
        void withoutAFailureOfTheActionIsNotTheCallersBusiness() throws Throwable {
            faulty.before("release").fail();

            Completion completion = a.engine.execute(pay(), attempt -> new Finish.Release());

            assertThat(completion).isEqualTo(new Completion.Executed(false, false));
        }
    }

    @Nested
    class AtTheRenewal {

        @Test
        void isTriedAgainWhileTheLeaseLives() throws Throwable {
            faulty.before("renew").fail();
            faulty.before("renew").fail();
            faulty.before("renew").fail();

            assertKeepsItsKey();
        }

        @Test
        void isTriedAgainWhateverTheStoreHasThrown() throws Throwable {
            faulty.before("renew").fail(new IllegalStateException("a bug of the store"));

            assertKeepsItsKey();
        }

        private void assertKeepsItsKey() throws Throwable {
            a.call(pay(), attempt -> {
                runtime.pass(LEASE.multipliedBy(2));
                assertThatThrownBy(() -> b.call(pay(), other -> effect("twice")))
                        .isInstanceOf(OperationInProgressException.class);
                return effect("paid");
            });

            assertThat(effects).hasValue(1);
        }
    }

    // Case 6: the record became DONE after it was seen abandoned.
    @Test
    void aTakeoverThatComesTooLateGetsTheResult() throws Throwable {
        VirtualRuntime slow = new VirtualRuntime();
        RunningAttempt owner = ((Decision.Proceed) new Node(store, slow).engine.begin(pay()))
                .attempt()
                .orElseThrow();
        runtime.pass(LEASE);
        faulty.after("tryClaim").run(() -> owner.finish(new Finish.Store(Node.result("paid"), false)));

        assertThat(a.call(pay(), attempt -> effect("twice"))).isEqualTo("paid");
        assertThat(effects).hasValue(0);
    }

    // Case 11: the record vanished after it was seen; nobody runs without one of his own.
    @Test
    void aRecordThatVanishesBetweenTwoLooksIsClaimedAgain() throws Throwable {
        new Node(store, new VirtualRuntime()).engine.begin(pay());
        runtime.pass(LEASE);
        faulty.after("tryClaim").run(() -> store.forget(pay().id()));

        assertThat(a.call(pay(), attempt -> {
                    assertThat(store.find(pay().id()))
                            .get()
                            .satisfies(record -> assertThat(record.done()).isFalse());
                    return effect("paid");
                }))
                .isEqualTo("paid");
        assertThat(effects).hasValue(1);
    }

    @Nested
    class ATransformer {

        private Node with(String id, int shift) {
            ResultTransformer transformer = new ResultTransformer() {
                @Override
                public String id() {
                    return id;
                }

                @Override
                public byte[] transform(byte[] payload) {
                    return shifted(payload, shift);
                }

                @Override
                public byte[] restore(byte[] stored) {
                    if (stored[0] == 0) {
                        throw new IllegalArgumentException("wrong key");
                    }
                    return shifted(stored, -shift);
                }
            };
            return new Node(IdempotencyEngine.on(store)
                    .runtime(runtime)
                    .transformer(transformer)
                    .build());
        }

        private byte[] shifted(byte[] bytes, int shift) {
            byte[] result = bytes.clone();
            for (int i = 0; i < result.length; i++) {
                result[i] += (byte) shift;
            }
            return result;
        }

        @Test
        void changesWhatIsStoredAndNotWhatIsReplayed() throws Throwable {
            with("shift", 1).call(pay(), attempt -> effect("paid"));

            assertThat(with("shift", 1).call(pay(), attempt -> effect("twice"))).isEqualTo("paid");
            assertThat(store.find(pay().id()).orElseThrow().result())
                    .isNotNull()
                    .satisfies(stored -> assertThat(Node.text(stored)).isEqualTo("qbje"));
        }

        @Test
        void ofAnotherNameIsNotAskedForTheResult() throws Throwable {
            with("shift", 1).call(pay(), attempt -> effect("paid"));

            assertThatThrownBy(() -> with("shift-2", 1).call(pay(), attempt -> effect("twice")))
                    .isInstanceOf(ResultUnreadableException.class)
                    .hasMessageContaining("'shift'");
            assertThat(effects).hasValue(1);
        }

        @Test
        void thatIsMissingOrFailsMakesTheResultUnreadableAndRunsNothing() throws Throwable {
            with("shift", 1).call(pay(), attempt -> effect("paid"));

            assertThatThrownBy(() -> b.call(pay(), attempt -> effect("twice")))
                    .isInstanceOf(ResultUnreadableException.class);
            store.forget(pay().id());
            with("shift", -'p').call(pay(), attempt -> effect("paid"));
            assertThatThrownBy(() -> with("shift", -'p').call(pay(), attempt -> effect("twice")))
                    .isInstanceOf(ResultUnreadableException.class);
            assertThat(effects).hasValue(2);
        }
    }

    // Truncated or altered bytes are neither a result nor a reason to run again.
    @Test
    void aStoredResultProvesItsIntegrity() {
        byte[] bytes = StoredResult.value("text", new byte[] {1, 2, 3}).toBytes();
        assertThat(StoredResult.fromBytes(bytes).payload()).containsExactly(1, 2, 3);

        for (int i = 0; i < bytes.length; i++) {
            byte[] altered = bytes.clone();
            altered[i] ^= 0x20;
            assertThatThrownBy(() -> StoredResult.fromBytes(altered)).isInstanceOf(IllegalArgumentException.class);
            byte[] truncated = Arrays.copyOf(bytes, i);
            assertThatThrownBy(() -> StoredResult.fromBytes(truncated)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> StoredResult.fromBytes(new byte[bytes.length]))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
