package io.idempotency.boot;

import io.idempotency.Idempotent;
import io.idempotency.IdempotentOperation;
import io.idempotency.boot.AnnotatedBeans.AnnotatedBean;
import io.idempotency.boot.IdempotencyProperties.Mode;
import io.idempotency.spring.aop.IdempotentAnnotations;
import io.idempotency.spring.aop.IdempotentMethod;
import io.idempotency.spring.aop.IdempotentMethods;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * The annotated methods of the application, by annotation and configuration. Once all beans are there it looks at every type, so
 * that what cannot be protected or configured is a start-up failure, and says for each operation what it got.
 */
final class ConfiguredIdempotentMethods implements IdempotentMethods, SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(ConfiguredIdempotentMethods.class);

    private final ConfigurableListableBeanFactory beanFactory;
    private final Environment environment;
    private final IdempotencyProperties properties;
    private final Operations operations;
    private final HandlerMethods handlers;
    private final Supplier<List<IdempotentOperation<?>>> templateOperations;
    private final Map<MethodClassKey, Optional<IdempotentMethod>> methods = new ConcurrentHashMap<>();

    ConfiguredIdempotentMethods(
            ConfigurableListableBeanFactory beanFactory,
            Environment environment,
            IdempotencyProperties properties,
            Operations operations,
            HandlerMethods handlers,
            Supplier<List<IdempotentOperation<?>>> templateOperations) {
        this.beanFactory = beanFactory;
        this.environment = environment;
        this.properties = properties;
        this.operations = operations;
        this.handlers = handlers;
        this.templateOperations = templateOperations;
    }

    @Override
    public @Nullable IdempotentMethod find(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        Optional<IdempotentMethod> known = methods.get(key);
        if (known == null) {
            known = look(method, ClassUtils.getUserClass(targetClass));
            methods.put(key, known);
        }
        return known.orElse(null);
    }

    // The start has seen every bean that there was then; this finds them by the methods of interfaces, and those that
    // came later.
    private Optional<IdempotentMethod> look(Method method, Class<?> userClass) {
        Method specific = IdempotentAnnotations.mostSpecific(method, userClass);
        Idempotent annotation = annotationOf(specific, userClass);
        if (annotation == null
                || properties.mode() == Mode.OFF
                || !properties.web().enabled()) {
            return Optional.empty();
        }
        return methods.computeIfAbsent(
                new MethodClassKey(specific, userClass),
                key -> found(
                        operations.resolve(declared(annotation, specific, userClass)),
                        DeclaredExpressions.of(annotation, specific, userClass)));
    }

    private static Optional<IdempotentMethod> found(ResolvedOperation resolved, DeclaredExpressions expressions) {
        return resolved.off()
                ? Optional.empty()
                : Optional.of(new IdempotentMethod(
                        expressions.method(),
                        resolved.settings(),
                        resolved.keyRequired(),
                        resolved.fingerprintScheme(),
                        expressions.key(),
                        expressions.fingerprint()));
    }

    /** An annotation on the class means its handlers of requests that change something. */
    private @Nullable Idempotent annotationOf(Method specific, Class<?> userClass) {
        Idempotent onMethod = IdempotentAnnotations.onMethod(specific, userClass);
        if (onMethod != null) {
            return onMethod;
        }
        Idempotent onType = IdempotentAnnotations.onType(userClass);
        return onType != null && isCoveredByType(specific, userClass) ? onType : null;
    }

    private boolean isCoveredByType(Method specific, Class<?> userClass) {
        return handlers.isHandler(specific, userClass) && !handlers.isSafe(specific, userClass);
    }

    private DeclaredOperation declared(Idempotent annotation, Method specific, Class<?> userClass) {
        return DeclaredOperation.of(annotation, specific, userClass, environment::resolveRequiredPlaceholders);
    }

    @Override
    public void afterSingletonsInstantiated() {
        List<AnnotatedBean> beans = AnnotatedBeans.in(beanFactory);
        if (properties.mode() == Mode.OFF) {
            AnnotatedBeans.warnOfUnprotected(beans, "idempotency.mode is off");
            return;
        }
        if (!properties.web().enabled()) {
            AnnotatedBeans.warnOfUnprotected(beans, "idempotency.web.enabled is false");
        }
        Found found = new Found();
        for (AnnotatedBean bean : beans) {
            annotatedMethods(bean).forEach((method, annotation) -> {
                DeclaredOperation operation = declared(annotation, method, bean.userClass());
                found.add(operation);
                found.expressions.put(operation, DeclaredExpressions.of(annotation, method, bean.userClass()));
            });
        }
        properties.web().rules().forEach(rule -> found.add(DeclaredOperation.of(rule)));
        templateOperations.get().forEach(operation -> found.add(DeclaredOperation.of(operation)));
        operations.checkConfiguredNames(found.names());
        found.resolveAndReport();
    }

    private Map<Method, Idempotent> annotatedMethods(AnnotatedBean bean) {
        Map<Method, Idempotent> annotated = new HashMap<>(bean.methods());
        boolean protects = properties.web().enabled();
        if (protects) {
            annotated.keySet().forEach(method -> checkHandler(method, bean.userClass()));
        }
        Idempotent onType = bean.onType();
        if (onType != null) {
            Set<Method> covered = MethodIntrospector.selectMethods(
                    bean.userClass(), (MethodFilter) method -> isCoveredByType(method, bean.userClass()));
            if (covered.isEmpty() && protects) {
                throw unsupported(bean.userClass().getName());
            }
            covered.forEach(method -> annotated.putIfAbsent(method, onType));
        }
        if (protects) {
            handlers.checkGate(bean.name(), bean.userClass());
        }
        return annotated;
    }

    private void checkHandler(Method method, Class<?> userClass) {
        String place = userClass.getName() + "." + method.getName();
        if (!handlers.isHandler(method, userClass)) {
            throw unsupported(place);
        }
        if (Modifier.isPrivate(method.getModifiers()) || Modifier.isFinal(method.getModifiers())) {
            throw new IdempotencyConfigurationException(
                    "@Idempotent on " + place
                            + " cannot be applied, because a private or final method cannot be intercepted",
                    "Make the method non-private and non-final.");
        }
    }

    private IdempotencyConfigurationException unsupported(String place) {
        return new IdempotencyConfigurationException(
                "@Idempotent on " + place + " would not protect it: " + handlers.limitation(),
                "Remove the annotation and call the work through IdempotencyTemplate, which works in every bean.");
    }

    /** The operations of the application, so that names that clash by accident are seen. */
    private final class Found {

        private final Map<String, DeclaredOperation> withDefaultName = new HashMap<>();
        private final Map<String, Set<DeclaredOperation>> byName = new TreeMap<>();
        private final Map<DeclaredOperation, DeclaredExpressions> expressions = new HashMap<>();

        Set<String> names() {
            return byName.keySet();
        }

        void add(DeclaredOperation operation) {
            if (operation.hasDefaultName()) {
                DeclaredOperation other = withDefaultName.putIfAbsent(operation.name(), operation);
                if (other != null && !isSameMethod(operation, other)) {
                    throw new IdempotencyConfigurationException(
                            "Two operations would have the name " + operation.name() + " and share their records: "
                                    + other.method() + " and " + operation.method(),
                            "Give one of them a name: @Idempotent(operation = \"…\"). To share records, name both.");
                }
            }
            byName.computeIfAbsent(operation.name(), name -> new HashSet<>()).add(operation);
        }

        private boolean isSameMethod(DeclaredOperation one, DeclaredOperation other) {
            return new KeyOf(one.method(), one.targetClass()).equals(new KeyOf(other.method(), other.targetClass()));
        }

        void resolveAndReport() {
            Set<String> reported = new HashSet<>();
            for (DeclaredOperation operation :
                    byName.values().stream().flatMap(Set::stream).toList()) {
                Method method = operation.method();
                if (method != null && !properties.web().enabled()) {
                    continue;
                }
                ResolvedOperation resolved = operations.resolve(operation);
                DeclaredExpressions declared = expressions.get(operation);
                if (method != null && declared != null) {
                    methods.put(new MethodClassKey(method, operation.targetClass()), found(resolved, declared));
                }
                if (reported.add(resolved.line())) {
                    resolved.report(log);
                }
            }
        }
    }

    private record KeyOf(@Nullable Method method, @Nullable Class<?> targetClass) {}
}
