package io.idempotency.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import io.idempotency.OperationInProgressException;
import io.idempotency.StoreUnavailableException;
import io.idempotency.engine.ValueCalls.Value;
import io.idempotency.engine.ValueCalls.ValueType;
import io.idempotency.spi.StoredResult;
import io.idempotency.support.StringResultCodec;
import io.idempotency.test.FaultyStore;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Calls whose value comes later: the claim is made at once, the attempt ends with the stage. */
class AsyncCallsTests extends LeasedTests {

    static final ValueType TEXT = new ValueType(String.class, new StringResultCodec(), List.of(IOException.class));

    private static final Completion UNRECORDED = new Completion.Executed(false, false);

    private final FaultyStore faulty = FaultyStore.around(store);
    private final Node node = new Node(faulty.store(), runtime);
    private final ValueCalls calls = new ValueCalls(node.engine);
    private final CompletableFuture<String> stage = new CompletableFuture<>();

    private static Call proceeding() {
        return Node.call(
                settings(Guarantee.AT_LEAST_ONCE).proceedOnStoreFailure(true).build(), "k", "10 EUR");
    }

    private CompletableFuture<Value<String>> begin(CompletionStage<String> later) throws Throwable {
        return begin(pay(), later);
    }

    private CompletableFuture<Value<String>> begin(Call call, CompletionStage<String> later) throws Throwable {
        return calls.<String>executeAsync(call, TEXT, () -> {
            effects.incrementAndGet();
            return later;
        });
    }

    @Test
    void endWithTheirStage() throws Throwable {
        CompletableFuture<Value<String>> first = begin(stage);
        assertThat(first).isNotDone();
        assertThatExceptionOfType(OperationInProgressException.class).isThrownBy(() -> begin(stage));

        stage.complete("paid");

        assertThat(first.join()).isEqualTo(new Value<>("paid", false));
        assertThat(begin(stage).join()).isEqualTo(new Value<>("paid", true));
        assertThat(effects).hasValue(1);
        assertThat(node.outcomes).containsExactly("in_progress", "executed", "replayed");
    }

    @Test
    void failWithTheirStageAndFreeTheKey() throws Throwable {
        IllegalStateException failure = new IllegalStateException("no");
        CompletableFuture<Value<String>> first = begin(stage);

        stage.completeExceptionally(failure);

        assertThatThrownBy(first::join).isInstanceOf(CompletionException.class).hasCause(failure);
        assertThat(begin(CompletableFuture.completedFuture("paid")).join()).isEqualTo(new Value<>("paid", false));
        assertThat(node.outcomes).containsExactly("failed", "executed");
    }

    // What stages say about their failures is not the failure.
    @Test
    void areJudgedByWhatTheStageFailedWith() throws Throwable {
        OperationSettings settings = settings(Guarantee.AT_LEAST_ONCE)
                .outcomePolicy(new DefaultOutcomePolicy(List.of(IOException.class), List.of()))
                .build();
        Call call = Node.call(settings, "k", "10 EUR");
        IOException failure = new IOException("declined");

        CompletableFuture<Value<String>> first = begin(call, stage.thenApply(text -> text));
        stage.completeExceptionally(failure);

        assertThatThrownBy(first::join).isInstanceOf(CompletionException.class).hasCause(failure);
        assertThatThrownBy(begin(call, new CompletableFuture<>())::join)
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOf(IOException.class)
                .hasMessage("declined");
        assertThat(effects).hasValue(1);
    }

    @Test
    void keepTheFailureThatAStageWrapsNothingInto() throws Throwable {
        CompletionException failure = new CompletionException("no cause", null);
        CompletableFuture<Value<String>> first = begin(stage);

        stage.completeExceptionally(failure);

        assertThatThrownBy(first::join).isSameAs(failure);
    }

    @Test
    void thatNeverBeginFreeTheKey() throws Throwable {
        IllegalStateException failure = new IllegalStateException("no");
        assertThatThrownBy(() -> calls.<String>executeAsync(pay(), TEXT, () -> {
                    throw failure;
                }))
                .isSameAs(failure);
        assertThatThrownBy(() -> node.engine.executeAsync(pay(), attempt -> null))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("null");

        assertThat(begin(CompletableFuture.completedFuture("paid")).join()).isEqualTo(new Value<>("paid", false));
        assertThat(node.outcomes).containsExactly("failed", "failed", "executed");
    }

    @Test
    void ofTheSameKeyOnTheSameCallStackJoin() throws Throwable {
        CompletableFuture<Completion> outer = node.engine.executeAsync(pay(), attempt -> {
            assertThat(IdempotencyContext.current()).containsSame(attempt.context());
            assertThat(begin(CompletableFuture.completedFuture("inner")).join()).isEqualTo(new Value<>("inner", false));
            return stage.thenApply(text -> new Finish.Store(
                    StoredResult.value(TEXT.codec().id(), TEXT.codec().encode(text, TEXT.type())), false));
        });
        stage.complete("outer");

        assertThat(outer.join()).isEqualTo(new Completion.Executed(true, false));
        assertThat(IdempotencyContext.current()).isEmpty();
        assertThat(begin(new CompletableFuture<>())).isCompletedWithValueMatching(Value::replayed);
        assertThat(node.outcomes).containsExactly("executed", "replayed");
    }

    // Neither has a record of its own, and both have run.
    @Test
    void thatJoinOrAreUnprotectedCameToAnEnd() throws Throwable {
        AsyncWork work = attempt -> CompletableFuture.completedFuture(new Finish.Store(Node.result("paid"), false));
        node.engine.execute(pay(), attempt -> {
            assertThat(node.engine.executeAsync(pay(), work)).isCompletedWithValue(UNRECORDED);
            return new Finish.Release();
        });
        faulty.before("tryClaim").fail();

        assertThat(node.engine.executeAsync(proceeding(), work)).isCompletedWithValue(UNRECORDED);
    }

    @Test
    void areUnprotectedOnlyWhereThatIsWanted() throws Throwable {
        faulty.before("tryClaim").fail();
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> begin(stage));
        faulty.before("tryClaim").fail();

        assertThat(begin(proceeding(), CompletableFuture.completedFuture("paid"))
                        .join())
                .isEqualTo(new Value<>("paid", false));
        assertThat(store.size()).isZero();
        assertThat(node.outcomes).containsExactly("store_unavailable", "unprotected");
    }

    @Test
    void failWhereTheLostResultIsUnknown() throws Throwable {
        CompletableFuture<Value<String>> first = begin(stage);
        runtime.pass(LEASE);
        store.forget(pay().id());
        faulty.before("recordDone").failAlways();

        stage.complete("paid");

        assertThatThrownBy(first::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(StoreUnavailableException.class);
    }
}
