package io.idempotency.boot;

import io.idempotency.boot.IdempotencyProperties.Store;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Conditional;

/** Matches where {@code idempotency.store} names the store, or is {@code auto} and no other store has its module there. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@Conditional(OnIdempotencyStoreCondition.class)
@interface ConditionalOnIdempotencyStore {

    /** The store. */
    Store value();
}
