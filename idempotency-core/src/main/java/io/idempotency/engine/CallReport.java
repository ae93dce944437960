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

    Completion around(Call call, Work work, Body<Work> body) throws Throwable {
        ObservedWork observed = new ObservedWork(work);
        return report(call.operation(), observed, () -> body.run(observed));
    }

    /** A call whose key is claimed on the way. If none was asked for, there was no call. */
    Completion late(String operation, LateWork work, Body<LateWork> body) throws Throwable {
        ObservedLateWork observed = new ObservedLateWork(work);
        return report(operation, observed, () -> body.run(observed));
    }

    private Completion report(String operation, Observed observed, Run run) throws Throwable {
        long start = runtime.nanoTime();
        String outcome = FAILED;
        try {
            Completion completion = run.run();
            outcome = observed.outcomeOf(completion);
            return completion;
        } catch (IdempotencyException refusal) {
            if (observed.thrown != refusal) {
                outcome = refusal.code().outcome();
            }
            throw refusal;
        } finally {
            long elapsed = runtime.nanoTime() - start;
            if (observed.ran) {
                times.record(operation, elapsed);
            }
            if (observed.asked) {
                listener.onCallEnded(operation, outcome, Duration.ofNanos(elapsed));
            }
        }
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

    interface Body<W> {
        Completion run(W observed) throws Throwable;
    }

    private interface Run {
        Completion run() throws Throwable;
    }

    /** What is seen of the work from within. */
    private abstract static class Observed {

        boolean asked;
        boolean ran;
        boolean unprotected;

        @Nullable
        Finish finish;

        @Nullable
        Throwable thrown;

        final String outcomeOf(Completion completion) {
            if (completion instanceof Completion.Replayed) {
                return REPLAYED;
            }
            if (unprotected) {
                return UNPROTECTED;
            }
            boolean undone =
                    completion instanceof Completion.Executed executed && executed.rolledBack() && !executed.stored();
            return finish instanceof Finish.Store && !undone ? EXECUTED : FAILED;
        }

        final Finish noting(Ending ending) throws Throwable {
            try {
                Finish reached = ending.reach();
                finish = reached;
                return reached;
            } catch (Throwable failure) {
                thrown = failure;
                throw failure;
            }
        }

        interface Ending {
            Finish reach() throws Throwable;
        }
    }

    private static final class ObservedWork extends Observed implements Work {

        private final Work work;

        private ObservedWork(Work work) {
            this.work = work;
            this.asked = true;
        }

        @Override
        public @Nullable StoredResult resultInAdvance() {
            return work.resultInAdvance();
        }

        @Override
        public Finish run(Attempt attempt) throws Throwable {
            ran = true;
            unprotected = attempt.context() == null;
            return noting(() -> work.run(attempt));
        }
    }

    private static final class ObservedLateWork extends Observed implements LateWork {

        private final LateWork work;

        private ObservedLateWork(LateWork work) {
            this.work = work;
        }

        @Override
        public Finish run(Claim claim) throws Throwable {
            return noting(() -> work.run(call -> observed(claim, call)));
        }

        private @Nullable Attempt observed(Claim claim, Call call) {
            asked = true;
            Attempt attempt = claim.of(call);
            ran = attempt != null;
            unprotected = attempt != null && attempt.context() == null;
            return attempt;
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
