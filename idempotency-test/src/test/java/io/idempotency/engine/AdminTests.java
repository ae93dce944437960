package io.idempotency.engine;

import static io.idempotency.engine.Node.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyAdmin.State;
import io.idempotency.ResultNotReplayableException;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.test.FaultyStore;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** What operators see and decide. */
class AdminTests extends LeasedTests {

    private final FaultyStore faulty = FaultyStore.around(store);
    private final Node node = new Node(faulty.store(), runtime);
    private final IdempotencyAdmin admin = node.engine.admin();

    private void vanish(Call call) {
        assertThat(((Decision.Proceed) node.engine.begin(call)).attempt()).isPresent();
    }

    private static Call payUnrenewed(Guarantee guarantee) {
        return call(settings(guarantee).maxExecution(LEASE).build(), "k", "10 EUR");
    }

    private State state() {
        return admin.find("pay", "", "k").orElseThrow().state();
    }

    @Test
    void seeEachState() {
        assertThat(admin.find("pay", "", "k")).isEmpty();
        vanish(payUnrenewed(Guarantee.AT_LEAST_ONCE));
        assertThat(admin.find("pay", "", "k"))
                .contains(new IdempotencyAdmin.Status(
                        State.PROCESSING,
                        Guarantee.AT_LEAST_ONCE,
                        1,
                        Instant.parse("2026-01-01T00:00:00Z"),
                        null,
                        Duration.ofHours(1).plus(LEASE)));

        runtime.pass(LEASE);
        assertThat(state()).isEqualTo(State.ABANDONED);

        assertThat(admin.resolveAsDone("pay", "", "k")).isTrue();
        assertThat(admin.find("pay", "", "k")).get().satisfies(status -> {
            assertThat(status.state()).isEqualTo(State.DONE);
            assertThat(status.fencingToken()).isEqualTo(2);
            assertThat(status.completedAt()).isEqualTo(Instant.parse("2026-01-01T00:00:30Z"));
        });
    }

    @Test
    void forgetWhatIsThere() throws Throwable {
        assertThat(admin.forget("pay", "", "k")).isFalse();
        node.call(pay(), attempt -> effect("paid"));

        assertThat(admin.forget("pay", "", "other")).isFalse();
        assertThat(admin.forget("pay", "", "k")).isTrue();

        assertThat(node.call(pay(), attempt -> effect("paid again"))).isEqualTo("paid again");
    }

    @Test
    void resolveWhatVanishedOnly() throws Throwable {
        for (boolean done : new boolean[] {true, false}) {
            assertThat(resolve(done)).as("nothing").isFalse();
        }
        node.call(pay(), attempt -> {
            assertThat(resolve(true)).as("running").isFalse();
            assertThat(resolve(false)).as("running").isFalse();
            return effect("paid");
        });

        assertThat(resolve(true)).as("done").isFalse();
        assertThat(resolve(false)).as("done").isFalse();
        assertThat(node.call(pay(), attempt -> effect("paid twice"))).isEqualTo("paid");
    }

    private boolean resolve(boolean done) {
        return done ? admin.resolveAsDone("pay", "", "k") : admin.resolveAsNotDone("pay", "", "k");
    }

    @Test
    void leaveTheFactAndNoResult() {
        vanish(payUnrenewed(Guarantee.AT_MOST_ONCE));
        runtime.pass(LEASE);

        assertThat(admin.resolveAsDone("pay", "", "k")).isTrue();

        Decision.Replay replay = (Decision.Replay) node.engine.begin(payAtMostOnce());
        assertThatExceptionOfType(ResultNotReplayableException.class)
                .isThrownBy(() -> ValueCalls.decode(
                        payAtMostOnce(),
                        AsyncCallsTests.TEXT,
                        replay.completion().result()));
    }

    // Somebody who decides at the same moment has decided.
    @Test
    void doNotDecideWhatAnotherHasDecided() {
        for (boolean done : new boolean[] {true, false}) {
            abandonAnew();
            faulty.before("tryClaim").run(this::takeOver);

            assertThat(resolve(done)).isFalse();
            assertThat(state()).isEqualTo(State.PROCESSING);
        }
    }

    @Test
    void areToldThatTheirDecisionCameTooLate() {
        for (boolean done : new boolean[] {true, false}) {
            abandonAnew();
            faulty.before(done ? "complete" : "release").run(() -> {
                runtime.pass(LEASE);
                takeOver();
            });

            assertThat(resolve(done)).isFalse();
            assertThat(state()).isEqualTo(State.PROCESSING);
        }
    }

    private void abandonAnew() {
        store.forget(payAtMostOnce().id());
        vanish(payUnrenewed(Guarantee.AT_MOST_ONCE));
        runtime.pass(LEASE);
    }

    private void takeOver() {
        IdempotencyRecord seen = store.find(payAtMostOnce().id()).orElseThrow();
        ClaimRequest request = payAtMostOnce().claimBy(runtime.newOwner()).takingOverFrom(seen.owner());
        assertThat(store.tryClaim(request)).isInstanceOf(ClaimResult.Claimed.class);
    }

    @Test
    void keepTheRetentionOfWhatTheyResolve() {
        vanish(payUnrenewed(Guarantee.AT_MOST_ONCE));
        runtime.pass(LEASE);
        Duration left = admin.find("pay", "", "k").orElseThrow().expiresIn();

        assertThat(admin.resolveAsDone("pay", "", "k")).isTrue();

        assertThat(admin.find("pay", "", "k").orElseThrow().expiresIn()).isEqualTo(left);
    }
}
