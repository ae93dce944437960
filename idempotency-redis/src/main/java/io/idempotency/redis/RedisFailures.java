package io.idempotency.redis;

import io.idempotency.StoreUnavailableException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;

/** Reads the errors of Redis out of what Spring and the drivers make of them. */
final class RedisFailures {

    private static final String OUT_OF_MEMORY = "OOM ";

    private static final Map<String, String> REASONS = reasons();

    private RedisFailures() {}

    private static Map<String, String> reasons() {
        Map<String, String> reasons = new LinkedHashMap<>();
        reasons.put(OUT_OF_MEMORY, "Redis has reached its maxmemory and refuses writes");
        reasons.put("READONLY ", "this server is a replica, and no replica is ever asked");
        reasons.put("NOREPLICAS ", "Redis refuses writes because too few of its replicas are there");
        reasons.put("MISCONF ", "Redis refuses writes because it cannot save to its disk");
        reasons.put("LOADING ", "Redis is still loading its data");
        reasons.put("BUSY ", "Redis is busy with a script that does not end");
        reasons.put("MASTERDOWN ", "this server is a replica without its master");
        reasons.put("CLUSTERDOWN ", "the Redis cluster is down");
        reasons.put("TRYAGAIN ", "Redis is moving this part of the cluster");
        reasons.put("MOVED ", "this is a Redis cluster, and the connection factory is not configured for one");
        reasons.put("NOAUTH ", "Redis asks for a password");
        reasons.put("WRONGPASS ", "Redis refuses the user or the password");
        reasons.put(
                "NOPERM ",
                "the Redis user lacks rights: the store needs SET, GET, GETEX, SETRANGE, DEL, PEXPIRE, PTTL, PEXPIRETIME, TIME, EVAL and"
                        + " EVALSHA on its keys, and WAIT with wait-replicas");
        return reasons;
    }

    static boolean isMissingScript(Throwable failure) {
        return says(failure, "NOSCRIPT");
    }

    /** Whether the server is there, and does not let this user do that. */
    static boolean isRefusal(Throwable failure) {
        return says(failure, "NOPERM ") || says(failure, "unknown command");
    }

    /** Before Redis 7.0, SET knows NX and GET but not both. */
    static boolean isUnknownSyntax(Throwable failure) {
        return says(failure, "ERR syntax error");
    }

    static boolean isOutOfMemory(Throwable failure) {
        return says(failure, OUT_OF_MEMORY);
    }

    static boolean isOtherType(Throwable failure) {
        return says(failure, "WRONGTYPE");
    }

    /** Whether the thread was interrupted while it waited. A pool of connections does not keep that in mind, as Lettuce does. */
    static boolean isInterruption(Throwable failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException) {
                return true;
            }
        }
        return false;
    }

    /** What the store throws when it cannot know what happened. */
    static StoreUnavailableException unavailable(String task, RuntimeException failure) {
        return failure instanceof StoreUnavailableException ours
                ? ours
                : new StoreUnavailableException("Redis failed at " + task + ": " + reason(failure), failure);
    }

    private static String reason(RuntimeException failure) {
        for (Map.Entry<String, String> reason : REASONS.entrySet()) {
            if (says(failure, reason.getKey())) {
                return reason.getValue();
            }
        }
        if (failure instanceof RedisConnectionFailureException) {
            return "it cannot be reached, or its connection was lost before the answer came";
        }
        return failure instanceof QueryTimeoutException
                ? "no answer came within the command timeout, so it may have happened or not"
                : "see the cause; it may have happened or not";
    }

    private static boolean says(Throwable failure, String words) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause.getMessage() != null && cause.getMessage().contains(words)) {
                return true;
            }
        }
        return false;
    }
}
