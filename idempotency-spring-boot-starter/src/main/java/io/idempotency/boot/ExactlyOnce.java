package io.idempotency.boot;

import io.idempotency.boot.IdempotencyProperties.Isolation;
import io.idempotency.spi.BusinessTransactions;
import java.lang.reflect.Method;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Says whether an operation can be exactly once, and in which transactions. */
interface ExactlyOnce {

    /**
     * @param method the annotated method on the user's class; null for an operation of the template
     * @param isolation isolation where the method asks for none
     * @param timeout timeout where the method has none
     */
    Answer of(
            @Nullable Method method,
            @Nullable Class<?> targetClass,
            @Nullable Isolation isolation,
            @Nullable Duration timeout);

    /** Either transactions or the reason why there are none. */
    sealed interface Answer {

        /** It can be. */
        record Possible(BusinessTransactions transactions) implements Answer {}

        /** @param reason completes the sentence "EXACTLY_ONCE cannot hold: …" */
        record Impossible(String reason) implements Answer {}
    }
}
