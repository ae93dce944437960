package io.idempotency.spring.web;

import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.spring.aop.IdempotentAnnotations;
import io.idempotency.spring.aop.IdempotentMethod;
import io.idempotency.spring.aop.IdempotentMethods;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.handler.AbstractHandlerMethodMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;

/**
 * Looks at every idempotent handler once the application's mappings are complete, so that what the filter and the gate could only
 * half protect is a start-up failure.
 *
 * @since 0.1.0
 */
public final class HandlerChecks {

    private static final Set<RequestMethod> SAFE =
            Set.of(RequestMethod.GET, RequestMethod.HEAD, RequestMethod.OPTIONS, RequestMethod.TRACE);

    private final ListableBeanFactory beanFactory;
    private final IdempotentMethods methods;
    private final WebSettings settings;

    /**
     * @param beanFactory asked for the handler mappings, not before {@link #run()}
     */
    public HandlerChecks(ListableBeanFactory beanFactory, IdempotentMethods methods, WebSettings settings) {
        this.beanFactory = beanFactory;
        this.methods = methods;
        this.settings = settings;
    }

    /** Runs the checks. To be called when all singletons are there. */
    public Findings run() {
        List<Failure> failures = new ArrayList<>();
        List<HandlerMapping> mappings = HandlerLookup.mappingsOf(beanFactory);
        CorsChecks cors = new CorsChecks(settings.header());
        for (HandlerMapping mapping : mappings) {
            if (mapping instanceof AbstractHandlerMethodMapping<?> ofMethods) {
                for (Map.Entry<?, HandlerMethod> each :
                        ofMethods.getHandlerMethods().entrySet()) {
                    HandlerMethod handler = each.getValue();
                    IdempotentMethod method = methods.find(handler.getMethod(), handler.getBeanType());
                    if (method != null) {
                        Failure failure = check(handler, method, each.getKey());
                        if (failure != null) {
                            failures.add(failure);
                        }
                        cors.add(ofMethods, handler, each.getKey());
                    }
                }
            }
        }
        return new Findings(List.copyOf(failures), cors.warnings(beanFactory));
    }

    private static @Nullable Failure check(HandlerMethod handler, IdempotentMethod idempotent, Object mapping) {
        Method method = idempotent.method();
        String place = "@Idempotent on " + handler.getBeanType().getName() + "." + method.getName();
        Failure failure = checkAnnotation(place, method, handler.getBeanType());
        if (failure == null && mapping instanceof RequestMappingInfo info) {
            failure = checkRequestMethods(place, info.getMethodsCondition().getMethods());
        }
        if (failure == null) {
            failure = checkThread(place, idempotent, handler.getBeanType());
        }
        return failure == null ? checkProxy(place, handler) : failure;
    }

    private static @Nullable Failure checkAnnotation(String place, Method method, Class<?> beanType) {
        Idempotent onMethod = IdempotentAnnotations.onMethod(method, beanType);
        Idempotent annotation = onMethod == null ? IdempotentAnnotations.onType(beanType) : onMethod;
        if (annotation == null) {
            return null;
        }
        if (!annotation.fingerprint().isEmpty() && annotation.key().isEmpty()) {
            return new Failure(
                    place
                            + " names a fingerprint by an expression, but its key comes with a header and is claimed before there are"
                            + " arguments",
                    "Remove the attribute 'fingerprint' and choose a fingerprintScheme (RAW, JSON or NONE), or name a key by an"
                            + " expression as well.");
        }
        return null;
    }

    private static @Nullable Failure checkRequestMethods(String place, Set<RequestMethod> mapped) {
        if (mapped.isEmpty()) {
            return new Failure(
                    place + " is mapped to every HTTP method, GET included, and GET cannot be idempotent by a key",
                    "Name the methods, for example by @PostMapping.");
        }
        Set<RequestMethod> safe = new TreeSet<>(mapped);
        safe.retainAll(SAFE);
        return safe.isEmpty()
                ? null
                : new Failure(
                        place + " is mapped to " + safe
                                + ", which are idempotent by themselves and are not protected by a key",
                        "Map the handler to other methods only, and handle these by a method of its own.");
    }

    private static @Nullable Failure checkThread(String place, IdempotentMethod idempotent, Class<?> beanType) {
        Method method = idempotent.method();
        Guarantee guarantee = idempotent.settings().guarantee();
        String reason = HandlerTypes.whyNotHere(method, beanType, guarantee);
        if (reason == null
                && (AnnotatedElementUtils.hasAnnotation(method, Async.class)
                        || AnnotatedElementUtils.hasAnnotation(ClassUtils.getUserClass(beanType), Async.class))) {
            reason = "runs on another thread (@Async)";
        }
        return reason == null
                ? null
                : new Failure(
                        place + " is not supported" + (guarantee == Guarantee.EXACTLY_ONCE ? " with EXACTLY_ONCE" : "")
                                + ", because the method " + reason,
                        "Choose the guarantee AT_LEAST_ONCE or AT_MOST_ONCE where the method returns an asynchronous result or a"
                                + " stream; else return the result itself, computed by the thread of the request.");
    }

    // The proxies of beans are for whoever knows the beans; a handler that was registered as an object is no bean.
    private static @Nullable Failure checkProxy(String place, HandlerMethod handler) {
        return handler.getBean() instanceof String || AopUtils.isAopProxy(handler.getBean())
                ? null
                : new Failure(
                        place
                                + " would not protect it, because the handler was registered as an object that is not proxied",
                        "Register a bean.");
    }

    /**
     * What was found.
     *
     * @param failures reasons not to start
     * @param warnings to be logged, one line each
     */
    public record Findings(List<Failure> failures, List<String> warnings) {}

    /**
     * A reason not to start.
     *
     * @param description what is wrong and where
     * @param action what to do
     */
    public record Failure(String description, String action) {}
}
