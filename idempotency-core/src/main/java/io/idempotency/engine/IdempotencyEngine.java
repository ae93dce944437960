package io.idempotency.engine;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyException;
import io.idempotency.spi.IdempotencyListener;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.ResultCodec;
import io.idempotency.spi.ResultTransformer;
import io.idempotency.spi.TransactionalStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs work once per key, as far as its guarantee goes. Doors (HTTP, methods, messages) translate their world into a {@link Call} and
 * a {@link Work}; every rule about records is here.
 *
 * <p>Thread-safe. Work runs on the calling thread. Refusals are thrown as {@link IdempotencyException}; what the work throws is
 * passed on unchanged.
 *
 * @since 0.1.0
 */
public final class IdempotencyEngine implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(IdempotencyEngine.class);

    private final IdempotencyStore store;
    private final EngineRuntime runtime;
    private final RunningCalls running = new RunningCalls();
    private final CallReport report;
    private final LeasedCalls leased;
    private final @Nullable TransactionalCalls transactional;
    private final Observer observer;
    private final IdempotencyAdmin admin;

    private IdempotencyEngine(Builder builder) {
        store = builder.store;
        runtime = builder.runtime;
        SafeListener listener = new SafeListener(builder.listeners);
        RunningTimes times = new RunningTimes();
        report = new CallReport(listener, runtime, times);
        Results results = new Results(builder.transformer);
        Judge judge = new Judge(results, times);
        Waiters waiters = new Waiters(runtime, builder.maxWaiters);
        leased = new LeasedCalls(store, runtime, listener, results, judge, waiters, running, builder.codecs);
        transactional = store instanceof TransactionalStore inDatabase
                ? new TransactionalCalls(inDatabase, runtime, listener, results, judge, waiters, running)
                : null;
        observer = new Observer(store, runtime, listener, judge);
        admin = new DefaultIdempotencyAdmin(store, runtime);
    }

    /** Starts an engine on a store. */
    public static Builder on(IdempotencyStore store) {
        return new Builder(store);
    }

    /**
     * Runs the work, or answers from the record.
     *
     * @return what the call came to; the caller must use the record's result where it is {@link Completion.Replayed}
     * @throws IdempotencyException if the call is refused
     * @throws Throwable what the work throws
     */
    public Completion execute(Call call, Work work) throws Throwable {
        Attempt outer = running.onThisThread(call.id());
        if (outer != null) {
            work.run(outer);
            return new Completion.Executed(false, false);
        }
        return report.around(call, work, observed -> executeOnce(call, observed));
    }

    private Completion executeOnce(Call call, Work work) throws Throwable {
        if (call.settings().guarantee() == Guarantee.EXACTLY_ONCE) {
            return transactionalCalls(call).execute(call, work);
        }
        return leased.execute(call, work);
    }

    private TransactionalCalls transactionalCalls(Call call) {
        if (transactional == null) {
            throw new IllegalStateException("Operation " + call.operation() + " is EXACTLY_ONCE, which the store "
                    + store.name() + " cannot hold");
        }
        return transactional;
    }

    /**
     * Runs work that learns its key on the way, in a transaction that is there before it. Only for {@link Guarantee#EXACTLY_ONCE}.
     *
     * @return what the call came to; work that ended without having asked for its key is executed and not stored
     * @throws IdempotencyException if the call is refused
     * @throws Throwable what the work throws
     */
    public Completion executeLate(OperationSettings settings, LateWork work) throws Throwable {
        if (settings.guarantee() != Guarantee.EXACTLY_ONCE || transactional == null) {
            throw new IllegalStateException("Operation " + settings.operation() + " is " + settings.guarantee() + " in "
                    + store.name() + "; only a transaction can be there before its key");
        }
        return report.late(settings.operation(), work, observed -> transactional.executeLate(settings, observed));
    }

    /**
     * Runs work whose end comes later, or answers from the record. Only for the leased guarantees. The work is begun on the calling
     * thread; the attempt is ended by the thread that completes its stage.
     *
     * @return completes when the attempt has ended; with what the work failed with, or with a refusal if its result was lost
     * @throws IdempotencyException if the call is refused
     * @throws Throwable what the work throws before it has a stage
     */
    public CompletableFuture<Completion> executeAsync(Call call, AsyncWork work) throws Throwable {
        Attempt outer = running.onThisThread(call.id());
        if (outer != null) {
            return work.start(outer)
                    .<Completion>thenApply(finish -> new Completion.Executed(false, false))
                    .toCompletableFuture();
        }
        Decision decision = begin(call);
        if (decision instanceof Decision.Replay replay) {
            return CompletableFuture.completedFuture(replay.completion());
        }
        RunningAttempt attempt = ((Decision.Proceed) decision).attempt().orElse(null);
        if (attempt == null) {
            return running.onStack(call, new UnprotectedAttempt(), work::start)
                    .<Completion>thenApply(finish -> new Completion.Executed(false, false))
                    .toCompletableFuture();
        }
        CompletionStage<Finish> stage;
        try {
            stage = Objects.requireNonNull(
                    running.onStack(call, attempt, work::start), "The action returned null in place of a stage");
        } catch (Throwable failure) {
            attempt.fail(failure);
            throw failure;
        }
        CompletableFuture<Completion> answer = new CompletableFuture<>();
        stage.whenComplete((finish, failure) -> end(attempt, finish, failure, answer));
        return answer;
    }

    private static void end(
            RunningAttempt attempt, Finish finish, @Nullable Throwable failure, CompletableFuture<Completion> answer) {
        try {
            if (failure == null) {
                answer.complete(attempt.finish(finish));
                return;
            }
            Throwable own =
                    failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            attempt.fail(own);
            answer.completeExceptionally(own);
        } catch (Throwable ours) {
            answer.completeExceptionally(ours);
        }
    }

    /**
     * Claims the key for work that ends elsewhere. Only for the leased guarantees.
     *
     * @throws IdempotencyException if the call is refused
     */
    public Decision begin(Call call) {
        if (call.settings().guarantee() == Guarantee.EXACTLY_ONCE) {
            throw new IllegalStateException("Operation " + call.operation()
                    + " is EXACTLY_ONCE, which holds only for work that ends on the thread on which it began");
        }
        return report.begin(call, () -> leased.begin(call));
    }

    /** The attempt of work that runs without a record, because the store cannot answer and the operation proceeds then. */
    public static Attempt unprotected() {
        return new UnprotectedAttempt();
    }

    /** Finds out what would become of calls that this engine does not execute. */
    public Observer observer() {
        return observer;
    }

    /** The operators' way to the records of this engine's store. */
    public IdempotencyAdmin admin() {
        return admin;
    }

    /** The store. */
    public IdempotencyStore store() {
        return store;
    }

    /** Whether the store can hold {@link Guarantee#EXACTLY_ONCE}. */
    public boolean transactional() {
        return transactional != null;
    }

    /** Stops renewals and the tidying after lost claims, and logs which operations are still running. */
    @Override
    public void close() {
        running.names()
                .forEach((operation, count) -> log.warn(
                        "Stopping while {} call(s) of operation {} still run; leased records stay until their lease is over",
                        count,
                        operation));
        observer.close();
        runtime.close();
    }

    /** Builds an engine. */
    public static final class Builder {

        private final IdempotencyStore store;
        private final List<IdempotencyListener> listeners = new ArrayList<>();
        private EngineRuntime runtime = EngineRuntime.system();
        private int maxWaiters = 64;
        private List<ResultCodec> codecs = Steps.PLAIN_CODECS;
        private Optional<ResultTransformer> transformer = Optional.empty();

        private Builder(IdempotencyStore store) {
            this.store = store;
        }

        public Builder listeners(Collection<? extends IdempotencyListener> listeners) {
            this.listeners.addAll(listeners);
            return this;
        }

        public Builder runtime(EngineRuntime runtime) {
            this.runtime = runtime;
            return this;
        }

        /** How many calls may wait at once for another one to finish; who comes later is refused at once. */
        public Builder maxWaiters(int maxWaiters) {
            this.maxWaiters = maxWaiters;
            return this;
        }

        /** Write the results of steps: the first that supports the declared type. By default those of text, bytes and nothing. */
        public Builder codecs(List<ResultCodec> codecs) {
            this.codecs = List.copyOf(codecs);
            return this;
        }

        public Builder transformer(ResultTransformer transformer) {
            this.transformer = Optional.of(transformer);
            return this;
        }

        public IdempotencyEngine build() {
            return new IdempotencyEngine(this);
        }
    }
}
