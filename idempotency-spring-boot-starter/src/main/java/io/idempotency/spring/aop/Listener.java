package io.idempotency.spring.aop;

import io.idempotency.IdempotencyException;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A method that a broker's listener container calls, and what the container's messages mean to the library.
 *
 * @since 0.1.0
 */
public interface Listener {

    /** Why the method cannot be protected; null if it can. The text completes the sentence "the listener …". */
    @Nullable
    String objection();

    /** Whether a message brings a key of its own, as far as the parameters of the method show it. */
    boolean seesMessages();

    /** Looks at one call. */
    Delivery deliver(@Nullable Object[] arguments);

    /** One call of the container. */
    interface Delivery {

        /** The message's own key; null if it has none. */
        @Nullable
        String key();

        /** Within which a message is worked on once: the group or the queue. */
        String scope();

        /** What the method is called with. Acknowledgments of its own are held back until {@link #settled}. */
        @Nullable
        Object[] arguments();

        /** What of the message is compared with a duplicate. */
        List<@Nullable Object> payload();

        /**
         * The message is done with: what the method has acknowledged is acknowledged now.
         *
         * @param replayed whether it was done by an earlier call, so that the method had no occasion to acknowledge
         */
        void settled(boolean replayed);

        /** What the container understands. */
        RuntimeException refused(IdempotencyException refusal);
    }

    /** Recognises listeners of one kind. */
    @FunctionalInterface
    interface Kind {

        /** @return null if the method is no listener of this kind */
        @Nullable
        Listener of(Method method, Class<?> targetClass);
    }
}
