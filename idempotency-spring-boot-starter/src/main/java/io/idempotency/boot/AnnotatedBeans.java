package io.idempotency.boot;

import io.idempotency.Idempotent;
import io.idempotency.spring.aop.IdempotentAnnotations;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/** Finds the beans whose class or methods carry {@link Idempotent}, by their types and without creating any of them. */
final class AnnotatedBeans {

    private static final Logger log = LoggerFactory.getLogger(AnnotatedBeans.class);

    private AnnotatedBeans() {}

    static List<AnnotatedBean> in(ConfigurableListableBeanFactory beanFactory) {
        List<AnnotatedBean> found = new ArrayList<>();
        for (String name : beanFactory.getBeanNamesForType(Object.class, true, false)) {
            Class<?> type = ScopedProxyUtils.isScopedTarget(name) ? null : userClass(beanFactory, name);
            if (type != null
                    && !type.getName().startsWith("org.springframework.")
                    && AnnotationUtils.isCandidateClass(type, Idempotent.class)) {
                AnnotatedBean bean = annotated(name, type);
                if (bean != null) {
                    found.add(bean);
                }
            }
        }
        return found;
    }

    static void warnOfUnprotected(List<AnnotatedBean> beans, String reason) {
        if (!beans.isEmpty()) {
            log.warn("{}: {} bean(s) with @Idempotent run unprotected", reason, beans.size());
        }
    }

    private static @Nullable Class<?> userClass(ConfigurableListableBeanFactory beanFactory, String name) {
        try {
            String target = ScopedProxyUtils.getTargetBeanName(name);
            Class<?> type =
                    AutoProxyUtils.determineTargetClass(beanFactory, beanFactory.containsBean(target) ? target : name);
            return type == null ? null : ClassUtils.getUserClass(type);
        } catch (RuntimeException | LinkageError e) {
            log.debug("The type of bean '{}' is not known; it is not searched for @Idempotent", name, e);
            return null;
        }
    }

    private static @Nullable AnnotatedBean annotated(String name, Class<?> type) {
        Map<Method, Idempotent> methods;
        Idempotent onType;
        try {
            onType = IdempotentAnnotations.onType(type);
            methods = MethodIntrospector.selectMethods(type, (MethodIntrospector.MetadataLookup<Idempotent>)
                    method -> IdempotentAnnotations.onMethod(method, type));
        } catch (RuntimeException | LinkageError e) {
            log.debug("The methods of bean '{}' cannot be read; it is not searched for @Idempotent", name, e);
            return null;
        }
        return onType == null && methods.isEmpty() ? null : new AnnotatedBean(name, type, onType, methods);
    }

    /**
     * A bean with annotations.
     *
     * @param onType the annotation of its class, superclass or interface
     * @param methods its annotated methods
     */
    record AnnotatedBean(
            String name, Class<?> userClass, @Nullable Idempotent onType, Map<Method, Idempotent> methods) {}
}
