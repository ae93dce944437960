package io.idempotency.test;

import io.idempotency.test.TransactionalStoreFixture.Opening;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A transaction that stays open between the steps of a fact, on a thread of its own. */
final class OpenTransaction implements AutoCloseable {

    private static final long LIMIT_SECONDS = 30;

    private final BlockingQueue<Step> steps = new LinkedBlockingQueue<>();
    private final ExecutorService thread = Executors.newSingleThreadExecutor();
    private final Future<?> end;
    private boolean ended;

    OpenTransaction(TransactionalStoreFixture fixture, Opening opening) {
        CompletableFuture<Void> begun = new CompletableFuture<>();
        end = thread.submit(() -> {
            try {
                fixture.inTransaction(opening, transaction -> {
                    begun.complete(null);
                    while (steps.take().run(transaction)) {}
                    return true;
                });
            } catch (Throwable e) {
                begun.completeExceptionally(e);
                throw e;
            }
            return null;
        });
        await(begun);
    }

    /** Runs a step in the transaction and waits for it. */
    <R> R call(Callable<R> step) {
        CompletableFuture<R> answer = new CompletableFuture<>();
        steps.add(transaction -> {
            try {
                answer.complete(step.call());
            } catch (Throwable e) {
                answer.completeExceptionally(e);
            }
            return true;
        });
        return await(answer);
    }

    void run(Runnable step) {
        call(() -> {
            step.run();
            return true;
        });
    }

    void commit() {
        end(transaction -> false);
    }

    void rollback() {
        end(transaction -> {
            transaction.setRollbackOnly();
            return false;
        });
    }

    private void end(Step last) {
        ended = true;
        steps.add(last);
        await(end);
    }

    @Override
    public void close() {
        try {
            if (!ended) {
                rollback();
            }
        } finally {
            thread.shutdownNow();
        }
    }

    private static <R> R await(Future<R> future) {
        try {
            return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted beside a transaction", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new AssertionError("A step of a transaction failed: " + e.getCause(), e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("A step of a transaction did not end within " + LIMIT_SECONDS + " s", e);
        }
    }

    private interface Step {

        /** Whether the transaction goes on. */
        boolean run(TransactionalStoreFixture.Transaction transaction);
    }
}
