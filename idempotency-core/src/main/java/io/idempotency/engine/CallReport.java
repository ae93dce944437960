package io.idempotency.engine;

import io.idempotency.IdempotencyException;
import io.idempotency.spi.StoredResult;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Tells the listeners how each call ended, and keeps an exception of the work apart from a refusal of ours. */
final class CallReport {

    static final String EXECUTED = "executed";
    static final String REPLAYED = "replayed";
    static final String FAILED = "failed";
    static final String UNPROTECTED = "unprotected";

    private final SafeListener listener;
    private final EngineRuntime runtime;
    private final RunningTimes times;

    CallReport(SafeListener listener, EngineRuntime runtime, RunningTimes times) {
        this.listener = listener;
        this.runtime = runtime;
        this.times = times;
    }

    Completion around(Call call, Work work, Body body) throws Throwable {
        long start = runtime.nanoTime();
        ObservedWork observed = new ObservedWork(work);
        String outcome = FAILED;
        try {
            Completion completion = body.run(observed);
            outcome = outcomeOf(completion, observed);
            return completion;
        } catch (IdempotencyException refusal) {
            if (observed.thrown != refusal) {
                outcome = refusal.code().outcome();
            }
            throw refusal;
        } finally {
            long elapsed = runtime.nanoTime() - start;
            if (observed.ran) {
                times.record(call.operation(), elapsed);
            }
            listener.onCallEnded(call.operation(), outcome, Duration.ofNanos(elapsed));
        }
    }

    private static String outcomeOf(Completion completion, ObservedWork observed) {
        if (completion instanceof Completion.Replayed) {
            return REPLAYED;
        }
        if (observed.unprotected) {
            return UNPROTECTED;
        }
        return observed.finish instanceof Finish.Store ? EXECUTED : FAILED;
    }

    Decision begin(Call call, Supplier<Decision> body) {
        long start = runtime.nanoTime();
        try {
            Decision decision = body.get();
            if (decision instanceof Decision.Proceed proceed
                    && proceed.attempt().isPresent()) {
                return new Decision.Proceed(
                        proceed.attempt().map(attempt -> new ReportedAttempt(attempt, call, start)));
            }
            ended(call, decision instanceof Decision.Replay ? REPLAYED : UNPROTECTED, start);
            return decision;
        } catch (IdempotencyException refusal) {
            ended(call, refusal.code().outcome(), start);
            throw refusal;
        }
    }

    private void ended(Call call, String outcome, long start) {
        listener.onCallEnded(call.operation(), outcome, Duration.ofNanos(runtime.nanoTime() - start));
    }

    /** A call whose key is claimed on the way. If none was asked for, there was no call. */
    Completion late(String operation, LateWork work, LateBody body) throws Throwable {
        long start = runtime.nanoTime();
        ObservedLateWork observed = new ObservedLateWork(work);
        String outcome = FAILED;
        try {
            Completion completion = body.run(observed);
            outcome = completion instanceof Completion.Replayed
                    ? REPLAYED
                    : observed.unprotected ? UNPROTECTED : observed.finish instanceof Finish.Store ? EXECUTED : FAILED;
            return completion;
        } catch (IdempotencyException refusal) {
            if (observed.thrown != refusal) {
                outcome = refusal.code().outcome();
            }
            throw refusal;
        } finally {
            long elapsed = runtime.nanoTime() - start;
            if (observed.granted) {
                times.record(operation, elapsed);
            }
            if (observed.asked) {
                listener.onCallEnded(operation, outcome, Duration.ofNanos(elapsed));
            }
        }
    }

    interface LateBody {
        Completion run(LateWork observed) throws Throwable;
    }

    private static final class ObservedLateWork implements LateWork {

        private final LateWork work;
        private boolean asked;
        private boolean granted;
        private boolean unprotected;
        private @Nullable Finish finish;
        private @Nullable Throwable thrown;

        private ObservedLateWork(LateWork work) {
            this.work = work;
        }

        @Override
        public Finish run(Claim claim) throws Throwable {
            try {
                finish = work.run(call -> observed(claim, call));
                return finish;
            } catch (Throwable failure) {
                thrown = failure;
                throw failure;
            }
        }

        private @Nullable Attempt observed(Claim claim, Call call) {
            asked = true;
            Attempt attempt = claim.of(call);
            granted = attempt != null;
            unprotected = attempt != null && attempt.context() == null;
            return attempt;
        }
    }

    interface Body {
        Completion run(Work observed) throws Throwable;
    }

    private static final class ObservedWork implements Work {

        private final Work work;
        private boolean ran;
        private boolean unprotected;
        private @Nullable Finish finish;
        private @Nullable Throwable thrown;

        private ObservedWork(Work work) {
            this.work = work;
        }

        @Override
        public @Nullable StoredResult resultInAdvance() {
            return work.resultInAdvance();
        }

        @Override
        public Finish run(Attempt attempt) throws Throwable {
            ran = true;
            unprotected = attempt.context() == null;
            try {
                finish = work.run(attempt);
                return finish;
            } catch (Throwable failure) {
                thrown = failure;
                throw failure;
            }
        }
    }

    private final class ReportedAttempt extends DelegatingAttempt {

        private final Call call;
        private final long start;

        private ReportedAttempt(RunningAttempt delegate, Call call, long start) {
            super(delegate);
            this.call = call;
            this.start = start;
        }

        @Override
        public Completion finish(Finish finish) {
            times.record(call.operation(), runtime.nanoTime() - start);
            try {
                Completion completion = super.finish(finish);
                boolean replayed = completion instanceof Completion.Replayed;
                ended(call, replayed ? REPLAYED : finish instanceof Finish.Store ? EXECUTED : FAILED, start);
                return completion;
            } catch (IdempotencyException refusal) {
                ended(call, refusal.code().outcome(), start);
                throw refusal;
            }
        }

        @Override
        public void fail(Throwable failure) {
            super.fail(failure);
            ended(call, FAILED, start);
        }
    }
}
