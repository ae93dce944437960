package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import org.junit.jupiter.api.Test;

class RunningCallsTests extends LeasedTests {

    private final Node node = new Node(store, runtime);

    private static Call call(String key) {
        return Node.call(settings(Guarantee.AT_LEAST_ONCE).build(), key, "10 EUR");
    }

    @Test
    void areNotRenewedByAnEngineThatWasStopped() {
        node.engine.begin(call("k"));
        assertThat(runtime.pending()).isOne();

        node.engine.close();

        assertThat(runtime.pending()).isZero();
    }

    @Test
    void knowThatNobodyWasThereBeforeThem() throws Throwable {
        node.call(
                call("k"),
                attempt -> effect(IdempotencyContext.current().orElseThrow().takeover() ? "second" : "first"));

        assertThat(node.call(call("k"), attempt -> effect("never"))).isEqualTo("first");
    }

    // A call of the same key joins the nearest attempt of it, also from within a call of another key.
    @Test
    void ofOtherKeysInBetweenDoNotHideTheOuterOne() throws Throwable {
        node.call(call("k"), outer -> {
            node.call(call("l"), other -> node.call(call("k"), inner -> effect("inner")));
            return node.call(call("k"), inner -> effect("inner again"));
        });

        assertThat(effects).hasValue(2);
        assertThat(node.outcomes).containsExactly("executed", "executed");
    }

    @Test
    void areNotJoinedAfterTheirEnd() throws Throwable {
        node.call(call("k"), outer -> {
            node.call(call("l"), inner -> effect("first"));
            assertThat(node.call(call("l"), inner -> effect("second"))).isEqualTo("first");
            return "outer";
        });

        assertThat(effects).hasValue(1);
        assertThat(node.outcomes).containsExactly("executed", "replayed", "executed");
    }
}
