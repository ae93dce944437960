package io.idempotency.spring.aop;

import io.idempotency.Idempotent;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/**
 * Finds {@link Idempotent}, also as a meta-annotation, where Java does not: on what a method overrides or implements, and on the
 * superclasses and interfaces of its class.
 *
 * @since 0.1.0
 */
public final class IdempotentAnnotations {

    private IdempotentAnnotations() {}

    /** Whether the method or its class carries the annotation. Does not say that the method is protected. */
    public static boolean isPresent(Method method, Class<?> targetClass) {
        return onMethod(method, targetClass) != null || onType(targetClass) != null;
    }

    /** The annotation of the method itself: of the most specific one, of what it overrides, or of what it implements. */
    public static @Nullable Idempotent onMethod(Method method, Class<?> targetClass) {
        Method specific = mostSpecific(method, targetClass);
        Idempotent found = AnnotatedElementUtils.findMergedAnnotation(specific, Idempotent.class);
        return found != null || specific.equals(method)
                ? found
                : AnnotatedElementUtils.findMergedAnnotation(method, Idempotent.class);
    }

    /** The annotation of the class, of a superclass or of an interface. */
    public static @Nullable Idempotent onType(Class<?> targetClass) {
        return AnnotatedElementUtils.findMergedAnnotation(ClassUtils.getUserClass(targetClass), Idempotent.class);
    }

    /** The method that the user wrote: neither of an interface nor of a proxy nor a bridge. */
    public static Method mostSpecific(Method method, Class<?> targetClass) {
        return AopUtils.getMostSpecificMethod(method, ClassUtils.getUserClass(targetClass));
    }
}
