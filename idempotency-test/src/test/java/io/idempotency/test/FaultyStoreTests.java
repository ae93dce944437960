package io.idempotency.test;

import static io.idempotency.test.ClaimRequests.LONG;
import static io.idempotency.test.ClaimRequests.freshId;
import static io.idempotency.test.ClaimRequests.request;
import static io.idempotency.test.ClaimRequests.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.PurgeableStore;
import io.idempotency.spi.WriteOutcome;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class FaultyStoreTests {

    private final InMemoryIdempotencyStore delegate = InMemoryIdempotencyStore.onSystemClock();
    private final FaultyStore faulty = FaultyStore.around(delegate);
    private final IdempotencyStore store = faulty.store();

    @Test
    void callThatFailsBeforeHasNotHappened() {
        ClaimRequest request = request(freshId());
        faulty.before("tryClaim").fail();

        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> store.tryClaim(request));

        assertThat(delegate.find(request.id())).isEmpty();
        assertThat(store.tryClaim(request)).isInstanceOf(ClaimResult.Claimed.class);
    }

    @Test
    void callThatFailsAfterHasHappened() {
        Lease lease = new Lease(request(freshId()), 1);
        store.tryClaim(lease.request());
        faulty.after("complete").fail();

        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> store.complete(lease, result("first"), LONG));

        assertThat(delegate.find(lease.id()).orElseThrow().done()).isTrue();
        assertThat(store.complete(lease, result("first"), LONG)).isEqualTo(WriteOutcome.APPLIED);
    }

    @Test
    void plannedFaultsHappenInTheirOrderAndOnce() {
        faulty.before("find").fail(new IllegalStateException("first"));
        faulty.before("find").fail(new IllegalStateException("second"));

        assertThatIllegalStateException()
                .isThrownBy(() -> store.find(freshId()))
                .withMessage("first");
        assertThatIllegalStateException()
                .isThrownBy(() -> store.find(freshId()))
                .withMessage("second");
        assertThat(store.find(freshId())).isEmpty();
    }

    @Test
    void lastingFaultEndsWithAReset() {
        faulty.before("find").failAlways();

        for (int i = 0; i < 3; i++) {
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> store.find(freshId()));
        }
        assertThat(faulty.calls()).containsExactly("find", "find", "find");
        faulty.reset();
        assertThat(store.find(freshId())).isEmpty();
        assertThat(faulty.calls()).containsExactly("find");
    }

    @Test
    void pausedCallWaitsUntilItIsResumed() {
        ClaimRequest request = request(freshId());

        try (FaultyStore.Pause pause = faulty.before("tryClaim").pause()) {
            CompletableFuture<ClaimResult> answer = CompletableFuture.supplyAsync(() -> store.tryClaim(request));
            pause.awaitReached();
            assertThat(delegate.find(request.id())).isEmpty();
            pause.resume();
            assertThat(answer.join()).isInstanceOf(ClaimResult.Claimed.class);
        }
    }

    @Test
    void interfacesOfTheStoreAreKept() {
        assertThat(store).isInstanceOf(PurgeableStore.class);
        assertThat(store.name()).isEqualTo("in-memory");
        assertThat(((PurgeableStore) store).purgeExpired(1)).isZero();
    }

    @Test
    void unknownMethodIsToldByName() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> faulty.before("claim"))
                .withMessageContaining("claim")
                .withMessageContaining("tryClaim");
    }

    @Nested
    class Contract extends IdempotencyStoreContract {

        @Override
        protected StoreFixture createFixture() {
            InMemoryStoreFixture fixture = new InMemoryStoreFixture();
            FaultyStore faultless = FaultyStore.around(fixture.store());
            return new StoreFixture() {
                @Override
                public IdempotencyStore store() {
                    return faultless.store();
                }

                @Override
                public void advance(Duration time) {
                    fixture.advance(time);
                }

                @Override
                public boolean cut() {
                    for (String method :
                            new String[] {"tryClaim", "complete", "recordDone", "release", "renew", "find", "forget"}) {
                        faultless.before(method).failAlways();
                    }
                    return true;
                }

                @Override
                public void restore() {
                    faultless.reset();
                }
            };
        }
    }
}
