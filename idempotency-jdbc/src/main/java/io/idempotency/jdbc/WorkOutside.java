package io.idempotency.jdbc;

import java.lang.StackWalker.StackFrame;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Watches one transaction for work that leaves it: whoever begins another one below, or asks for none, suspends it. */
final class WorkOutside implements TransactionSynchronization {

    static final TransactionExecutionListener LISTENER = new TransactionExecutionListener() {
        @Override
        public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
            WorkOutside running = RUNNING.get();
            if (running != null
                    && beginFailure == null
                    && !transaction.getTransactionName().isEmpty()) {
                running.see("the transaction " + transaction.getTransactionName(), true);
            }
        }
    };

    private static final ThreadLocal<@Nullable WorkOutside> RUNNING = new ThreadLocal<>();

    private static final Predicate<StackFrame> OF_SPRING =
            frame -> frame.getClassName().startsWith("org.springframework.");

    private @Nullable String seen;
    private boolean seenByName;
    private boolean ended;
    private boolean committed;

    private WorkOutside() {}

    /** Begins to watch the transaction that is open on this thread. */
    static WorkOutside watch() {
        WorkOutside watch = new WorkOutside();
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(watch);
        }
        return watch;
    }

    /** Lets the listener know to which transaction the work on this thread belongs. */
    <R extends @Nullable Object> R whileRunning(Action<R> action) throws Throwable {
        WorkOutside outer = RUNNING.get();
        RUNNING.set(this);
        try {
            return action.run();
        } finally {
            if (outer == null) {
                RUNNING.remove();
            } else {
                RUNNING.set(outer);
            }
        }
    }

    /** Who left the transaction, the first of them. */
    @Nullable
    String seen() {
        return seen;
    }

    boolean isCommitted() {
        return committed;
    }

    @Override
    public void suspend() {
        see(caller(), false);
    }

    @Override
    public void beforeCompletion() {
        ended = true;
    }

    @Override
    public void afterCompletion(int status) {
        committed = status == STATUS_COMMITTED;
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    // The name of a transaction says more than a stack can: a JDK proxy hides the class.
    private void see(String work, boolean named) {
        if (!ended && (seen == null || (named && !seenByName))) {
            seen = work;
            seenByName = named;
        }
    }

    // The first frame above the transaction manager that is not Spring's: the proxy of the method, or who used a
    // template.
    private static String caller() {
        return StackWalker.getInstance()
                .walk(frames -> frames.dropWhile(OF_SPRING.negate())
                        .dropWhile(OF_SPRING)
                        .findFirst()
                        .map(frame -> "the transaction of " + withoutProxy(frame.getClassName()) + "."
                                + frame.getMethodName()))
                .orElse("another transaction");
    }

    private static String withoutProxy(String className) {
        int proxy = className.indexOf("$$");
        return proxy < 0 ? className : className.substring(0, proxy);
    }

    /** Work in the watched transaction. */
    @FunctionalInterface
    interface Action<R extends @Nullable Object> {

        R run() throws Throwable;
    }
}
