package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.idempotency.Guarantee;
import io.idempotency.OperationInProgressException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.test.FaultyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** When a lease is renewed, when a key is released that could not be at once, and when a call that waits looks again. */
class PaceTests extends LeasedTests {

    private final FaultyStore faulty = FaultyStore.around(store);
    private final Node node = new Node(faulty.store(), runtime);
    private final List<Duration> renewals = new ArrayList<>();

    private Duration now() {
        return Duration.ofNanos(runtime.clock.nanoTime());
    }

    private void runs(Duration time, Duration maxExecution) throws Throwable {
        Call call = Node.call(
                settings(Guarantee.AT_LEAST_ONCE).maxExecution(maxExecution).build(), "k", "10 EUR");
        note("renew", renewals);
        node.call(call, attempt -> {
            runtime.pass(time);
            return "paid";
        });
    }

    private void note(String method, List<Duration> moments) {
        faulty.before(method).run(() -> {
            moments.add(now());
            note(method, moments);
        });
    }

    @Test
    void comesThreeTimesPerLease() throws Throwable {
        runs(Duration.ofSeconds(35), Duration.ofMinutes(10));

        assertThat(renewals).containsExactly(Duration.ofSeconds(10), Duration.ofSeconds(20), Duration.ofSeconds(30));
    }

    // Instances that were started together do not stay together.
    @ParameterizedTest
    @CsvSource({"0.0, 9", "1.0, 11"})
    void comesUpToATenthEarlierOrLater(double random, int seconds) throws Throwable {
        runtime.random = random;

        runs(Duration.ofSeconds(15), Duration.ofMinutes(10));

        assertThat(renewals).containsExactly(Duration.ofSeconds(seconds));
    }

    @Test
    void endsWithTheMaximumExecutionTime() throws Throwable {
        runs(Duration.ofMinutes(2), Duration.ofSeconds(50));

        assertThat(renewals)
                .containsExactly(
                        Duration.ofSeconds(10), Duration.ofSeconds(20), Duration.ofSeconds(30), Duration.ofSeconds(40));
    }

    @Test
    void comesAgainSoonAfterOneThatFailed() throws Throwable {
        node.call(pay(), attempt -> {
            faulty.before("renew").fail();
            note("renew", renewals);
            runtime.pass(Duration.ofSeconds(24));
            return "paid";
        });

        assertThat(renewals).containsExactly(Duration.ofSeconds(13), Duration.ofSeconds(23));
    }

    // A release that is given up would leave the key to its lease; one without pauses would be an attack on a store
    // that recovers.
    @Test
    void releaseThatFailsComesLaterAndLaterUntilEveryTenSeconds() {
        List<Duration> releases = new ArrayList<>();
        RunningAttempt attempt =
                ((Decision.Proceed) node.engine.begin(pay())).attempt().orElseThrow();
        faulty.before("release").failAlways();
        attempt.fail(new IllegalStateException("no"));
        int before = faulty.calls().size();
        for (int i = 0; i < 400; i++) {
            runtime.pass(Duration.ofMillis(100));
            int now = faulty.calls().size();
            if (now > before) {
                releases.add(now());
                before = now;
            }
        }

        assertThat(releases.stream().map(Duration::toMillis))
                .containsExactly(100L, 300L, 700L, 1_500L, 3_100L, 6_300L, 12_700L, 22_700L, 32_700L);
    }

    // So many keys wait to be released; one more stays until its lease is over.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void releaseThatIsLaterMakesRoomForAnotherWhenItIsDoneOrRefused(boolean done) {
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 1025; i++) {
                Call call = Node.call(settings(Guarantee.AT_LEAST_ONCE).build(), round + "-" + i, "10 EUR");
                faulty.before("tryClaim").fail();
                assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> node.engine.begin(call));
                if (!done) {
                    faulty.before("release").fail(new IllegalStateException("no"));
                }
            }
            assertThat(runtime.pending()).isEqualTo(1024);

            runtime.pass(LEASE.multipliedBy(2));

            assertThat(runtime.pending()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"0.0, 0.75", "0.5, 1", "1.0, 1.25"})
    void callThatWaitsLooksLessOftenUntilTwiceASecondAndOnceMoreAtItsEnd(double random, double spread) {
        Duration patience = Duration.ofSeconds(3);
        Call waiting =
                Node.call(settings(Guarantee.AT_LEAST_ONCE).waitAtMost(patience).build(), "k", "10 EUR");
        node.engine.begin(pay());
        runtime.random = random;
        List<Duration> looks = new ArrayList<>();
        note("tryClaim", looks);

        assertThatExceptionOfType(OperationInProgressException.class).isThrownBy(() -> node.engine.begin(waiting));

        assertThat(looks)
                .startsWith(Stream.of(0, 25, 75, 175, 375, 775, 1_275, 1_775)
                        .map(millis -> Duration.ofNanos((long) (millis * 1_000_000L * spread)))
                        .toArray(Duration[]::new))
                .endsWith(patience);
    }
}
