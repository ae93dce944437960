package io.idempotency.engine;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyException;
import io.idempotency.engine.Judge.Verdict;
import io.idempotency.spi.ClaimRequest;
import io.idempotency.spi.ClaimResult;
import io.idempotency.spi.IdempotencyRecord;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.spi.Lease;
import io.idempotency.spi.OutcomePolicy.Disposition;
import io.idempotency.spi.RecordId;
import io.idempotency.spi.StoredResult;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out what would become of calls that run unprotected, and tells the listeners. It asks the store in the background, one call
 * after the other, so that it neither delays nor fails anybody; what is too much is left out and counted as such.
 *
 * <p>It writes records of its own, which no protected call ever meets, and reads those of protected calls.
 *
 * @since 0.1.0
 */
public final class Observer {

    /** The outcome of calls about which nothing was found out, because there were too many at once. */
    public static final String UNOBSERVED = "unobserved";

    private static final Logger log = LoggerFactory.getLogger(Observer.class);
    private static final int MOST_WAITING = 4096;
    private static final int SECONDS_TO_STOP = 5;

    private final IdempotencyStore store;
    private final EngineRuntime runtime;
    private final SafeListener listener;
    private final Judge judge;
    private final ThreadPoolExecutor background;
    private final ThreadLocal<@Nullable Frame> stack = new ThreadLocal<>();

    Observer(IdempotencyStore store, EngineRuntime runtime, SafeListener listener, Judge judge) {
        this(store, runtime, listener, judge, MOST_WAITING);
    }

    Observer(IdempotencyStore store, EngineRuntime runtime, SafeListener listener, Judge judge, int mostWaiting) {
        this.store = store;
        this.runtime = runtime;
        this.listener = listener;
        this.judge = judge;
        background = new ThreadPoolExecutor(
                1, 1, 30, TimeUnit.SECONDS, new LinkedBlockingQueue<>(mostWaiting), Observer::newThread);
        background.allowCoreThreadTimeOut(true);
    }

    private static Thread newThread(Runnable task) {
        Thread thread = new Thread(task, "idempotency-observe");
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Observes a call that begins now.
     *
     * @param call makes the call, as it would be made to be executed; null if it would run unprotected anyway. What it throws is a
     *     refusal that would have been, or logged
     */
    public Observation begin(String operation, Supplier<@Nullable Call> call) {
        Call made;
        try {
            made = call.get();
        } catch (IdempotencyException refusal) {
            would(operation, null, refusal.code().outcome());
            return Observation.NONE;
        } catch (RuntimeException e) {
            log.warn("A call of operation {} could not be observed; enforced it would have failed", operation, e);
            return Observation.NONE;
        }
        if (made == null || isOnThisThread(made.id())) {
            return Observation.NONE;
        }
        Observed observed = new Observed(made);
        later(operation, observed::claim);
        return observed;
    }

    private boolean isOnThisThread(RecordId id) {
        for (Frame frame = stack.get(); frame != null; frame = frame.outer) {
            if (frame.id.equals(id)) {
                return true;
            }
        }
        return false;
    }

    private void later(String operation, Runnable task) {
        try {
            background.execute(task);
        } catch (RejectedExecutionException e) {
            log.debug("Too many calls at once to observe all of them");
            listener.onObserved(operation, UNOBSERVED);
        }
    }

    private void would(String operation, @Nullable RecordId id, String outcome) {
        if (outcome.equals(CallReport.EXECUTED) || outcome.equals(CallReport.FAILED)) {
            log.debug("Operation {} ({}) is observed; enforced it would be the same: {}", operation, id, outcome);
        } else {
            log.info("Operation {} ({}) is observed and ran; enforced it would have been: {}", operation, id, outcome);
        }
        listener.onObserved(operation, outcome);
    }

    void close() {
        background.shutdown();
        try {
            if (!background.awaitTermination(SECONDS_TO_STOP, TimeUnit.SECONDS)) {
                background.shutdownNow();
            }
        } catch (InterruptedException e) {
            background.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    private record Frame(RecordId id, @Nullable Frame outer) {}

    /** Its tasks run one after the other. */
    private final class Observed implements Observation {

        private final Call call;
        private volatile @Nullable Lease granted;

        private Observed(Call call) {
            this.call = call;
        }

        @Override
        public IdempotencyContext.Scope bind() {
            Frame outer = stack.get();
            stack.set(new Frame(call.id(), outer));
            return () -> {
                if (outer == null) {
                    stack.remove();
                } else {
                    stack.set(outer);
                }
            };
        }

        @Override
        public void ended(Disposition disposition) {
            later(call.operation(), () -> record(disposition));
        }

        @Override
        public void threw(Throwable failure, Disposition otherwise) {
            Disposition judged = judged(failure);
            ended(judged == Disposition.UNDECIDED ? otherwise : judged);
        }

        private Disposition judged(Throwable failure) {
            try {
                return call.settings()
                        .outcomePolicy()
                        .onThrow(failure, call.settings().guarantee());
            } catch (RuntimeException e) {
                log.warn("The outcome policy of operation {} threw", call.operation(), e);
                return Disposition.UNDECIDED;
            }
        }

        private void claim() {
            try {
                ClaimResult enforced = enforced();
                if (enforced == null || !isAnswered(enforced)) {
                    claimOwn();
                }
            } catch (IdempotencyException refusal) {
                would(call.operation(), call.id(), refusal.code().outcome());
            } catch (RuntimeException e) {
                log.warn("A call of operation {} ({}) could not be observed", call.operation(), call.id(), e);
            }
        }

        // What a transaction holds, or has left behind, says nothing to anybody outside of it.
        private @Nullable ClaimResult enforced() {
            return store.find(call.id())
                    .filter(record -> record.done() || record.leaseLeft() != null)
                    .map(IdempotencyRecord::asClaimResult)
                    .orElse(null);
        }

        private void claimOwn() {
            ClaimRequest request = ownRequest();
            while (true) {
                ClaimResult found = store.tryClaim(request);
                if (found instanceof ClaimResult.Claimed claimed) {
                    granted = claimed.lease();
                    return;
                }
                Verdict verdict = judge.judge(call, found);
                if (!(verdict instanceof Verdict.TakeOver takeOver)) {
                    tell(verdict);
                    return;
                }
                request = request.takingOverFrom(takeOver.seen());
            }
        }

        // Not renewed, so that it lasts for as long as a renewed one would.
        private ClaimRequest ownRequest() {
            OperationSettings settings = call.settings();
            return new ClaimRequest(
                    RecordId.of("observed " + call.operation(), call.scope(), call.key()),
                    call.operation(),
                    Guarantee.AT_LEAST_ONCE,
                    runtime.newOwner(),
                    call.fingerprint(),
                    settings.lease().compareTo(settings.maxExecution()) > 0
                            ? settings.lease()
                            : settings.maxExecution(),
                    settings.retention(),
                    null);
        }

        private boolean isAnswered(ClaimResult enforced) {
            Verdict verdict = judge.judge(call, enforced);
            if (verdict instanceof Verdict.TakeOver) {
                return false;
            }
            tell(verdict);
            return true;
        }

        private void tell(Verdict verdict) {
            would(
                    call.operation(),
                    call.id(),
                    verdict instanceof Verdict.Refused refused
                            ? refused.refusal().code().outcome()
                            : verdict instanceof Verdict.Busy busy
                                    ? busy.refusal().code().outcome()
                                    : CallReport.REPLAYED);
        }

        private void record(Disposition disposition) {
            Lease lease = granted;
            if (lease == null) {
                return;
            }
            would(
                    call.operation(),
                    call.id(),
                    disposition == Disposition.STORE ? CallReport.EXECUTED : CallReport.FAILED);
            try {
                if (disposition == Disposition.STORE) {
                    store.complete(
                            lease,
                            StoredResult.notReplayable("none", new byte[0]),
                            call.settings().retention());
                } else if (disposition != Disposition.HOLD) {
                    store.release(lease);
                }
            } catch (RuntimeException e) {
                log.warn("The end of an observed call of operation {} ({}) is lost", call.operation(), call.id(), e);
            }
        }
    }
}
