package io.idempotency.spring.aop;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * The annotated methods of the application. Settings are resolved once, at start, so that an error in them is a start-up failure.
 *
 * @since 0.1.0
 */
public interface IdempotentMethods {

    /**
     * @param method the method that is called, possibly of an interface
     * @param targetClass class of the object on which it is called
     * @return {@code null} if the method is not idempotent
     */
    @Nullable
    IdempotentMethod find(Method method, Class<?> targetClass);
}
