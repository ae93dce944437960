package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.idempotency.Guarantee;
import io.idempotency.KeyReusedException;
import io.idempotency.OperationInProgressException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.spi.IdempotencyListener;
import io.idempotency.test.FaultyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What listeners are told of a call and how long it took, and what duplicates are told of how long it will. */
class CallReportTests extends LeasedTests {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final FaultyStore faulty = FaultyStore.around(store);
    private final List<String> told = new ArrayList<>();
    private final IdempotencyEngine engine = IdempotencyEngine.on(faulty.store())
            .runtime(runtime)
            .listeners(List.of(new IdempotencyListener() {
                @Override
                public void onCallEnded(String operation, String outcome, Duration elapsed) {
                    told.add(operation + " " + outcome + " " + elapsed);
                }
            }))
            .build();

    private static Call call(String key) {
        return Node.call(settings(Guarantee.AT_LEAST_ONCE).build(), key, "10 EUR");
    }

    private Completion takes(Duration time, Call call) throws Throwable {
        return engine.execute(call, attempt -> {
            runtime.pass(time);
            return new Finish.Store(Node.result("paid"), false);
        });
    }

    private RunningAttempt begin(Call call) {
        return ((Decision.Proceed) engine.begin(call)).attempt().orElseThrow();
    }

    @Test
    void tellsHowLongACallTook() throws Throwable {
        takes(SECOND.multipliedBy(3), call("k"));
        takes(SECOND, call("k"));

        assertThat(told).containsExactly("pay executed PT3S", "pay replayed PT0S");
    }

    @Test
    void tellsHowLongACallTookThatEndsElsewhere() {
        RunningAttempt attempt = begin(call("k"));
        runtime.pass(SECOND.multipliedBy(3));
        attempt.finish(new Finish.Store(Node.result("paid"), false));
        RunningAttempt another = begin(call("l"));
        runtime.pass(SECOND.multipliedBy(2));
        another.fail(new IllegalStateException("no"));

        assertThat(told).containsExactly("pay executed PT3S", "pay failed PT2S");
    }

    @Test
    void tellsOfACallWhoseResultWasLostAtItsEnd() {
        RunningAttempt attempt = begin(call("k"));
        runtime.pass(SECOND.multipliedBy(3));
        store.forget(call("k").id());
        faulty.before("recordDone").failAlways();

        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> attempt.finish(new Finish.Store(Node.result("paid"), false)));

        assertThat(told).hasSize(1).first().asString().startsWith("pay store_unavailable PT3");
    }

    @Test
    void tellsOfCallsThatHaveNoAttempt() throws Throwable {
        takes(SECOND, call("k"));
        told.clear();

        engine.begin(call("k"));
        assertThatExceptionOfType(KeyReusedException.class)
                .isThrownBy(() ->
                        engine.begin(Node.call(settings(Guarantee.AT_LEAST_ONCE).build(), "k", "20 EUR")));
        faulty.before("tryClaim").fail();
        engine.begin(Node.call(
                settings(Guarantee.AT_LEAST_ONCE).proceedOnStoreFailure(true).build(), "k", "10 EUR"));

        assertThat(told).containsExactly("pay replayed PT0S", "pay key_reused PT0S", "pay unprotected PT0S");
    }

    private Duration hint(Call call) {
        return catchThrowableOfType(OperationInProgressException.class, () -> engine.begin(call))
                .retryAfter();
    }

    @Test
    void hintsAtASecondWhileNothingIsKnown() {
        begin(call("k"));

        assertThat(hint(call("k"))).isEqualTo(SECOND);
    }

    @Test
    void hintsAtWhatCallsTookOfLate() throws Throwable {
        takes(SECOND.multipliedBy(10), call("k"));
        RunningAttempt later = begin(call("l"));
        assertThat(hint(call("l"))).isEqualTo(SECOND.multipliedBy(10));

        runtime.pass(SECOND.multipliedBy(5));
        later.finish(new Finish.Release());

        begin(call("m"));
        assertThat(hint(call("m"))).isEqualTo(SECOND.multipliedBy(9));
    }

    // Neither a replay nor a refusal says how long the work takes.
    @Test
    void learnsFromWorkOnly() throws Throwable {
        takes(SECOND.multipliedBy(10), call("k"));
        takes(SECOND, call("k"));
        begin(call("l"));
        hint(call("l"));

        assertThat(hint(call("l"))).isEqualTo(SECOND.multipliedBy(10));
    }

    @Test
    void hintsAtTheEndOfTheLeaseWhereThatIsSooner() throws Throwable {
        takes(Duration.ofMinutes(2), call("k"));
        Call unrenewed =
                Node.call(settings(Guarantee.AT_LEAST_ONCE).maxExecution(LEASE).build(), "l", "10 EUR");
        begin(unrenewed);
        runtime.pass(SECOND.multipliedBy(10));

        assertThat(hint(unrenewed)).isEqualTo(LEASE.minusSeconds(10));
    }
}
