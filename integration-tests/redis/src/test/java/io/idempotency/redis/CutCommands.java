package io.idempotency.redis;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Counts the commands of one call of an operation, and its work, and cuts one of them off: before it, or its reply. After a death nothing
 * gets through any more.
 */
final class CutCommands {

    private final List<Step> done = new ArrayList<>();
    private final int cutAt;
    private final boolean replyLost;
    private final boolean deadly;
    private boolean dead;

    static CutCommands none() {
        return new CutCommands(0, false, false);
    }

    /** @param cutAt number of the command, from 1 */
    CutCommands(int cutAt, boolean replyLost, boolean deadly) {
        this.cutAt = cutAt;
        this.replyLost = replyLost;
        this.deadly = deadly;
    }

    synchronized List<Step> done() {
        return List.copyOf(done);
    }

    synchronized boolean isDead() {
        return dead;
    }

    RedisConnectionFactory in(RedisConnectionFactory target) {
        return proxy(
                RedisConnectionFactory.class,
                target,
                connection -> connection instanceof RedisConnection
                        ? proxy(RedisConnection.class, connection, this::commands)
                        : connection);
    }

    private Object commands(Object value) {
        for (Class<?> type : value.getClass().getInterfaces()) {
            if (type.getSimpleName().endsWith("Commands")) {
                return Proxy.newProxyInstance(
                        type.getClassLoader(),
                        new Class<?>[] {type},
                        (self, method, arguments) -> around(null, () -> method.invoke(value, arguments)));
            }
        }
        return value;
    }

    /** Does the work, which is cut off like a command. */
    void work(Runnable work) throws Throwable {
        around(Step.WORK, () -> {
            work.run();
            return null;
        });
    }

    private @Nullable Object around(@Nullable Step step, Callable<@Nullable Object> command) throws Throwable {
        boolean here;
        synchronized (this) {
            if (dead) {
                throw new RedisConnectionFailureException("cut");
            }
            done.add(step != null ? step : done.contains(Step.WORK) ? Step.RECORD : Step.CLAIM);
            here = done.size() == cutAt;
            dead = here && deadly;
        }
        if (here && !replyLost) {
            throw new RedisConnectionFailureException("cut");
        }
        Object reply;
        try {
            reply = command.call();
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
        if (here) {
            throw new RedisConnectionFailureException("cut");
        }
        return reply;
    }

    private static <T> T proxy(Class<T> type, Object target, Wrapping wrapping) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    try {
                        Object value = method.invoke(target, arguments);
                        return value == null ? null : wrapping.of(value);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    private interface Wrapping {

        Object of(Object value);
    }

    /** What a command is for. */
    enum Step {
        CLAIM,
        WORK,
        RECORD
    }
}
