package io.idempotency.boot;

import io.idempotency.Idempotent;
import io.idempotency.boot.AnnotatedBeans.AnnotatedBean;
import io.idempotency.spring.aop.Door;
import io.idempotency.spring.aop.IdempotentMethodAdvisor;
import io.idempotency.spring.aop.Listener;
import io.idempotency.spring.aop.MethodResults;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ReflectionUtils;

/** Says by which door the calls of a method come in, and whether they can be protected there. */
final class MethodDoors {

    // By name: an application without a web stack does not have them.
    private static final String CONTROLLER = "org.springframework.stereotype.Controller";
    private static final String REQUEST_MAPPING = "org.springframework.web.bind.annotation.RequestMapping";

    private final ConfigurableListableBeanFactory beanFactory;
    private final HandlerMethods handlers;
    private final boolean web;
    private final MethodResults results;
    private final List<Listener.Kind> listeners;

    /**
     * @param web whether HTTP requests are protected
     */
    MethodDoors(
            ConfigurableListableBeanFactory beanFactory,
            HandlerMethods handlers,
            boolean web,
            MethodResults results,
            List<Listener.Kind> listeners) {
        this.beanFactory = beanFactory;
        this.handlers = handlers;
        this.web = web;
        this.results = results;
        this.listeners = List.copyOf(listeners);
    }

    /**
     * The door of an annotated method; null if it is to run unprotected, because HTTP requests do and nothing but a request would
     * bring its key.
     */
    @Nullable
    Door of(Idempotent annotation, Method method, Class<?> userClass) {
        if (handlers.isHandler(method, userClass)) {
            return web ? Door.HTTP : annotation.key().isEmpty() ? null : Door.METHOD;
        }
        if (annotation.key().isEmpty() && looksLikeHandler(method, userClass)) {
            if (!web) {
                return null;
            }
            throw new IdempotencyConfigurationException(
                    "@Idempotent on " + place(method, userClass) + " would not protect it: " + handlers.limitation(),
                    "Name a key that is read from the arguments: @Idempotent(key = \"#request.id\"), or remove the"
                            + " annotation and call the work through IdempotencyTemplate.");
        }
        return Door.METHOD;
    }

    private static boolean looksLikeHandler(Method method, Class<?> userClass) {
        return isController(userClass)
                && MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(REQUEST_MAPPING);
    }

    private static boolean isController(Class<?> userClass) {
        return MergedAnnotations.from(userClass, SearchStrategy.TYPE_HIERARCHY).isPresent(CONTROLLER);
    }

    /** An annotation on a controller means its handlers of requests that change something, elsewhere the public methods. */
    boolean isCoveredByType(Method method, Class<?> userClass) {
        if (isController(userClass)) {
            return handlers.isHandler(method, userClass) && !handlers.isSafe(method, userClass);
        }
        return Modifier.isPublic(method.getModifiers())
                && !Modifier.isStatic(method.getModifiers())
                && ReflectionUtils.USER_DECLARED_METHODS.matches(method)
                && !ReflectionUtils.isObjectMethod(method);
    }

    /**
     * Fails if calls of the method cannot be intercepted, or if a listener cannot have a key.
     *
     * @param withKey whether the annotation names one
     */
    void check(Door door, boolean withKey, Method method, AnnotatedBean bean) {
        int modifiers = method.getModifiers();
        if (Modifier.isPrivate(modifiers) || Modifier.isFinal(modifiers) || Modifier.isStatic(modifiers)) {
            throw new IdempotencyConfigurationException(
                    "@Idempotent on " + place(method, bean.userClass())
                            + " cannot be applied, because a private, final or static method cannot be intercepted",
                    "Make the method non-private, non-final and non-static.");
        }
        if (door == Door.HTTP) {
            handlers.checkGate(bean.name(), bean.userClass());
            return;
        }
        ProxyChecks.check(beanFactory, bean.name(), bean.userClass(), IdempotentMethodAdvisor.class);
        listeners.stream()
                .map(kind -> kind.of(method, bean.userClass()))
                .filter(Objects::nonNull)
                .findFirst()
                .map(listener -> objectionTo(listener, withKey))
                .ifPresent(objection -> {
                    throw new IdempotencyConfigurationException(
                            "@Idempotent on " + place(method, bean.userClass())
                                    + " is not supported, because the listener " + objection,
                            "Name a key that is read from the arguments, or call the work through IdempotencyTemplate"
                                    + " for each message.");
                });
    }

    private static @Nullable String objectionTo(Listener listener, boolean withKey) {
        String objection = listener.objection();
        if (objection != null || withKey || listener.seesMessages()) {
            return objection;
        }
        return "names no key and has no parameter that shows the message's: none that is the message or record itself,"
                + " its headers, or the key header";
    }

    /** Fails if what the method returns cannot be kept. */
    void checkResult(Method method, Class<?> userClass, boolean storeResult) {
        MethodResults.Objection objection = results.objectionTo(method, userClass, storeResult);
        if (objection != null) {
            throw new IdempotencyConfigurationException(
                    "@Idempotent on " + place(method, userClass) + " is not supported, because the method "
                            + objection.reason(),
                    objection.remedy());
        }
    }

    private static String place(Method method, Class<?> userClass) {
        return userClass.getName() + "." + method.getName();
    }
}
