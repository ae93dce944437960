package io.idempotency.engine;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyException;
import io.idempotency.spi.OutcomePolicy;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.sql.SQLTimeoutException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/**
 * The stock policy. What is named in {@code storeFailures} is stored, what is named in {@code releaseFailures} is released. Of the
 * rest, what leaves the outcome open (a timeout while reading, a failed commit, an interruption, an {@link Error}) is held, and
 * under {@link Guarantee#AT_MOST_ONCE} everything that is not proven harmless is.
 *
 * @since 0.1.0
 */
public final class DefaultOutcomePolicy implements OutcomePolicy {

    // Spring's classes by name: the engine knows no Spring.
    private static final Set<String> AMBIGUOUS = Set.of(
            "org.springframework.dao.QueryTimeoutException",
            "org.springframework.transaction.TransactionSystemException",
            "org.springframework.transaction.TransactionTimedOutException");

    private final List<Class<? extends Throwable>> storeFailures;
    private final List<Class<? extends Throwable>> releaseFailures;

    /** A policy that names no exception. */
    public DefaultOutcomePolicy() {
        this(List.of(), List.of());
    }

    public DefaultOutcomePolicy(
            List<Class<? extends Throwable>> storeFailures, List<Class<? extends Throwable>> releaseFailures) {
        this.storeFailures = List.copyOf(storeFailures);
        this.releaseFailures = List.copyOf(releaseFailures);
    }

    @Override
    public Disposition onThrow(Throwable failure, Guarantee guarantee) {
        if (named(storeFailures, failure)) {
            return Disposition.STORE;
        }
        if (named(releaseFailures, failure)) {
            return Disposition.RELEASE;
        }
        if (guarantee == Guarantee.EXACTLY_ONCE) {
            return Disposition.UNDECIDED;
        }
        if (guarantee == Guarantee.AT_MOST_ONCE) {
            return harmless(failure) ? Disposition.RELEASE : Disposition.HOLD;
        }
        return ambiguous(failure) ? Disposition.HOLD : Disposition.UNDECIDED;
    }

    private static boolean named(List<Class<? extends Throwable>> types, Throwable failure) {
        return types.stream().anyMatch(type -> type.isInstance(failure));
    }

    private static boolean harmless(Throwable failure) {
        return failure instanceof IdempotencyException || anyCause(failure, ConnectException.class::isInstance);
    }

    private static boolean ambiguous(Throwable failure) {
        return anyCause(failure, DefaultOutcomePolicy::leavesTheOutcomeOpen);
    }

    private static boolean leavesTheOutcomeOpen(Throwable failure) {
        return failure instanceof Error
                || failure instanceof InterruptedException
                || failure instanceof SocketTimeoutException
                || failure instanceof HttpTimeoutException && !(failure instanceof HttpConnectTimeoutException)
                || failure instanceof SQLTimeoutException
                || failure instanceof TimeoutException
                || isNamed(failure.getClass());
    }

    private static boolean isNamed(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            if (AMBIGUOUS.contains(each.getName())) {
                return true;
            }
        }
        return false;
    }

    private static boolean anyCause(Throwable failure, Predicate<Throwable> predicate) {
        int depth = 0;
        for (Throwable each = failure; each != null && depth < 20; each = each.getCause(), depth++) {
            if (predicate.test(each)) {
                return true;
            }
        }
        return false;
    }
}
