package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.IdempotencyContext;
import io.idempotency.spi.OutcomePolicy.Disposition;
import java.net.SocketTimeoutException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** An attempt as who runs it sees it. */
class RunningAttemptTests extends LeasedTests {

    private final Node a = new Node(store, runtime);
    private final Node b = new Node(store, runtime);

    @Test
    void endsOnce() {
        RunningAttempt attempt =
                ((Decision.Proceed) a.engine.begin(pay())).attempt().orElseThrow();
        attempt.finish(new Finish.Release());

        assertThatThrownBy(() -> attempt.finish(new Finish.Release())).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> attempt.fail(new IllegalArgumentException()))
                .isInstanceOf(IllegalStateException.class);
        assertThat(a.outcomes).containsExactly("failed");
    }

    @Test
    void isTheSameWhereverItEnds() throws Throwable {
        RunningAttempt attempt =
                ((Decision.Proceed) a.engine.begin(pay())).attempt().orElseThrow();
        assertThat(attempt.transactional()).isFalse();
        assertThat(attempt.rollbackOnly()).isFalse();
        assertThat(attempt.judge(new SocketTimeoutException())).isEqualTo(Disposition.HOLD);
        assertThat(attempt.judge(new IllegalStateException())).isEqualTo(Disposition.UNDECIDED);

        CompletableFuture.runAsync(() -> {
                    try (IdempotencyContext.Scope ignored = attempt.bind()) {
                        assertThat(IdempotencyContext.current()).containsSame(attempt.context());
                        a.call(pay(), joined -> effect("joined"));
                    } catch (Throwable failure) {
                        throw new CompletionException(failure);
                    }
                    assertThat(IdempotencyContext.current()).isEmpty();
                    attempt.finish(new Finish.Store(Node.result("paid"), false));
                })
                .get(30, TimeUnit.SECONDS);

        assertThat(effects).hasValue(1);
        assertThat(b.call(pay(), other -> effect("twice"))).isEqualTo("paid");
    }

    @Test
    void hasNothingToSayWithoutARecord() {
        Attempt unprotected = IdempotencyEngine.unprotected();

        assertThat(unprotected.context()).isNull();
        assertThat(unprotected.transactional()).isFalse();
        assertThat(unprotected.rollbackOnly()).isFalse();
        assertThat(unprotected.judge(new SocketTimeoutException())).isEqualTo(Disposition.UNDECIDED);
    }

    @Test
    void belongsToAnEngineThatKnowsItsStoreAndWhatThatCanHold() {
        assertThat(a.engine.store()).isSameAs(store);
        assertThat(a.engine.transactional()).isFalse();
        assertThat(IdempotencyEngine.on(new ScriptedTransactionalStore())
                        .build()
                        .transactional())
                .isTrue();
    }
}
