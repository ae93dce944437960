package io.idempotency;

import io.idempotency.IdempotencyTemplate.Action;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a running action may ask about its own attempt. Bound to the thread on which the action runs.
 *
 * @since 0.1.0
 */
public abstract class IdempotencyContext {

    private static final ThreadLocal<IdempotencyContext> CURRENT = new ThreadLocal<>();

    /** The innermost attempt that runs on this thread; empty outside of one and in an unprotected run. */
    public static Optional<IdempotencyContext> current() {
        return Optional.ofNullable(CURRENT.get());
    }

    /**
     * Binds a context to this thread until the returned scope is closed, on the same thread. Called by the library; an application
     * needs it only to carry a context to another thread, where child keys, steps and clients then belong to the attempt. The
     * transaction of the action is not carried, and the action must not end before what it has begun elsewhere.
     *
     * @param context null: none
     */
    public static Scope bind(@Nullable IdempotencyContext context) {
        IdempotencyContext before = CURRENT.get();
        set(context);
        return () -> set(before);
    }

    private static void set(@Nullable IdempotencyContext context) {
        if (context == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(context);
        }
    }

    /**
     * Runs a part of a long action once: an attempt that follows, after a failure, a crash or a takeover, gets the result of a step
     * that was finished and goes on after it. Names are unique within an action, and the same on every attempt.
     *
     * <p>A step has a record of its own, with the guarantee and the lease of the operation: of a process that dies inside of a step
     * nobody knows whether it was done, and under {@link Guarantee#AT_LEAST_ONCE} it runs again. A step that throws is not finished.
     * Within a step, {@link #current()} is the step's own, with child keys that differ from those of other steps. Outside of an
     * attempt, and in an unprotected run, the step simply runs.
     *
     * @param name of the step, for example {@code "reserve"}
     * @throws LeaseLostException if another attempt has taken the key over
     * @throws OperationInProgressException if an earlier attempt, which has not ended, still runs this step
     * @throws IllegalStateException under {@link Guarantee#EXACTLY_ONCE}, where the action is one transaction
     * @throws E what the step throws
     */
    @SuppressWarnings("unchecked") // The step throws what it declares, or what is unchecked.
    public static <T, E extends Exception> T step(String name, Class<T> resultType, Action<T, E> step) throws E {
        IdempotencyContext context = CURRENT.get();
        if (context == null) {
            return step.run();
        }
        try {
            return context.runStep(name, resultType, step);
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable failure) {
            throw (E) failure;
        }
    }

    /** Like {@link #step(String, Class, Action)}, for a step without a result. */
    @SuppressWarnings("NullAway") // Of type Void there is only null.
    public static <E extends Exception> void step(String name, Step<E> step) throws E {
        IdempotencyContext.<Void, E>step(name, Void.class, () -> {
            step.run();
            return null;
        });
    }

    /** Name of the operation. */
    public abstract String operation();

    /** The key of this call, as the caller gave it. Do not log it. */
    public abstract String key();

    /**
     * The number of this attempt while its record lives: 1 for the first, and one more for each that takes over from one that
     * vanished. With the record it starts again: after expiry, forget, and the release that follows a failure. A transaction that is
     * rolled back leaves no record and is not counted. A step has a record, and so a number, of its own. Pass it to a resource that
     * refuses smaller tokens.
     */
    public abstract long fencingToken();

    /** Whether an earlier attempt vanished without a result and may have had effects. */
    public abstract boolean takeover();

    /** Whether a renewal found that another attempt owns the key. Never true under {@link Guarantee#EXACTLY_ONCE}. */
    public abstract boolean leaseLost();

    /** Runs a step of this attempt, or gives its first result. */
    protected abstract <T extends @Nullable Object> T runStep(String name, Type resultType, Action<T, ?> action)
            throws Throwable;

    /** The 32 bytes that identify the record: the parent of every {@link #childKey(String)}. */
    protected abstract byte[] recordId();

    /**
     * Ends an attempt that has lost its lease, right before an effect that cannot be taken back.
     *
     * @throws LeaseLostException if {@link #leaseLost()}
     */
    public final void ensureOwned() {
        if (leaseLost()) {
            throw new LeaseLostException(
                    "Another attempt of " + operation() + " has taken the key over; this one must stop");
        }
    }

    /**
     * A key for a call that this action makes: a UUID (version 8) derived from this record and the step's name, the same on every
     * attempt, so that the callee recognises a repeated call.
     */
    public final String childKey(String step) {
        byte[] name = step.getBytes(StandardCharsets.UTF_8);
        byte[] parent = recordId();
        ByteBuffer input = ByteBuffer.allocate(8 + parent.length + name.length);
        input.putInt(parent.length).put(parent).putInt(name.length).put(name);
        ByteBuffer digest = ByteBuffer.wrap(sha256(input.array()));
        long high = digest.getLong() & 0xffffffffffff0fffL | 0x8000L;
        long low = digest.getLong() & 0x3fffffffffffffffL | 0x8000000000000000L;
        return new UUID(high, low).toString();
    }

    private static byte[] sha256(byte[] input) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(input);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is part of every Java platform", e);
        }
    }

    /** A part of an action that has no result. */
    @FunctionalInterface
    public interface Step<E extends Exception> {

        /** Runs until it has been finished once. */
        void run() throws E;
    }

    /** Ends a binding. */
    @FunctionalInterface
    public interface Scope extends AutoCloseable {

        @Override
        void close();
    }
}
