package io.idempotency.boot;

import io.idempotency.Idempotent;
import io.idempotency.IdempotentOperation;
import io.idempotency.Mode;
import io.idempotency.boot.AnnotatedBeans.AnnotatedBean;
import io.idempotency.spring.aop.Door;
import io.idempotency.spring.aop.IdempotentAnnotations;
import io.idempotency.spring.aop.IdempotentMethod;
import io.idempotency.spring.aop.IdempotentMethods;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
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
    private final ConfiguredModes modes;
    private final MethodDoors doors;
    private final Supplier<List<IdempotentOperation<?>>> templateOperations;
    private final Map<MethodClassKey, Optional<IdempotentMethod>> methods = new ConcurrentHashMap<>();

    ConfiguredIdempotentMethods(
            ConfigurableListableBeanFactory beanFactory,
            Environment environment,
            IdempotencyProperties properties,
            Operations operations,
            ConfiguredModes modes,
            MethodDoors doors,
            Supplier<List<IdempotentOperation<?>>> templateOperations) {
        this.beanFactory = beanFactory;
        this.environment = environment;
        this.properties = properties;
        this.operations = operations;
        this.modes = modes;
        this.doors = doors;
        this.templateOperations = templateOperations;
    }

    @Override
    public @Nullable IdempotentMethod find(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        Optional<IdempotentMethod> known = methods.get(key);
        if (known == null) {
            known = look(method, userClass(method, targetClass));
            methods.put(key, known);
        }
        return known.orElse(null);
    }

    // The object behind a client's interface is a proxy of its own, about which its class says nothing.
    private static Class<?> userClass(Method method, Class<?> targetClass) {
        return Proxy.isProxyClass(targetClass) ? method.getDeclaringClass() : ClassUtils.getUserClass(targetClass);
    }

    // The start has seen every bean that there was then; this finds them by the methods of interfaces, and those that
    // came later.
    private Optional<IdempotentMethod> look(Method method, Class<?> userClass) {
        Method specific = IdempotentAnnotations.mostSpecific(method, userClass);
        Idempotent annotation = annotationOf(specific, userClass);
        Door door =
                annotation == null || properties.mode() == Mode.OFF ? null : doors.of(annotation, specific, userClass);
        if (annotation == null || door == null) {
            return Optional.empty();
        }
        return methods.computeIfAbsent(
                new MethodClassKey(specific, userClass),
                key -> found(
                        operations.resolve(declared(annotation, specific, userClass), door),
                        door,
                        DeclaredExpressions.of(annotation, specific, userClass)));
    }

    private static Optional<IdempotentMethod> found(
            ResolvedOperation resolved, Door door, DeclaredExpressions expressions) {
        return resolved.off()
                ? Optional.empty()
                : Optional.of(new IdempotentMethod(
                        expressions.method(),
                        resolved.settings(),
                        resolved.keyRequired(),
                        resolved.fingerprintScheme(),
                        door,
                        expressions.key(),
                        expressions.fingerprint()));
    }

    private @Nullable Idempotent annotationOf(Method specific, Class<?> userClass) {
        Idempotent onMethod = IdempotentAnnotations.onMethod(specific, userClass);
        if (onMethod != null) {
            return onMethod;
        }
        Idempotent onType = IdempotentAnnotations.onType(userClass);
        return onType != null && doors.isCoveredByType(specific, userClass) ? onType : null;
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
        Found found = new Found();
        List<AnnotatedBean> unprotected = new ArrayList<>();
        for (AnnotatedBean bean : beans) {
            if (!found.addAll(bean)) {
                unprotected.add(bean);
            }
        }
        AnnotatedBeans.warnOfUnprotected(unprotected, "idempotency.web.enabled is false");
        properties.web().rules().forEach(rule -> found.add(DeclaredOperation.of(rule)));
        templateOperations.get().forEach(operation -> found.add(DeclaredOperation.of(operation)));
        operations.checkConfiguredNames(found.names());
        modes.know(found.names());
        found.resolveAndReport();
        beans.forEach(SelfInvocations::warn);
    }

    private Map<Method, Idempotent> annotatedMethods(AnnotatedBean bean) {
        Map<Method, Idempotent> annotated = new HashMap<>(bean.methods());
        Idempotent onType = bean.onType();
        if (onType != null) {
            Set<Method> covered = MethodIntrospector.selectMethods(
                    bean.userClass(), (MethodFilter) method -> doors.isCoveredByType(method, bean.userClass()));
            if (covered.isEmpty() && properties.web().enabled()) {
                throw new IdempotencyConfigurationException(
                        "@Idempotent on " + bean.userClass().getName()
                                + " would not protect anything: the class has no method that it could mean",
                        "Annotate methods. On a controller the annotation means its handlers of requests that change something, on"
                                + " any other class its public methods.");
            }
            covered.forEach(method -> annotated.putIfAbsent(method, onType));
        }
        return annotated;
    }

    /** The operations of the application, so that names that clash by accident are seen. */
    private final class Found {

        private final Map<String, DeclaredOperation> withDefaultName = new HashMap<>();
        private final Map<String, Set<DeclaredOperation>> byName = new TreeMap<>();
        private final Map<DeclaredOperation, DeclaredExpressions> expressions = new HashMap<>();

        private final Map<DeclaredOperation, Door> byDoor = new HashMap<>();

        Set<String> names() {
            return byName.keySet();
        }

        /** @return whether all of the bean's methods are protected */
        boolean addAll(AnnotatedBean bean) {
            boolean all = true;
            for (Map.Entry<Method, Idempotent> each : annotatedMethods(bean).entrySet()) {
                Method method = each.getKey();
                DeclaredOperation operation = declared(each.getValue(), method, bean.userClass());
                add(operation);
                Door door = doors.of(each.getValue(), method, bean.userClass());
                if (door == null) {
                    all = false;
                    continue;
                }
                doors.check(door, !each.getValue().key().isEmpty(), method, bean);
                byDoor.put(operation, door);
                expressions.put(operation, DeclaredExpressions.of(each.getValue(), method, bean.userClass()));
            }
            return all;
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
                Door door = byDoor.get(operation);
                if (method != null && door == null) {
                    continue;
                }
                ResolvedOperation resolved = operations.resolve(operation, door == null ? Door.METHOD : door);
                DeclaredExpressions declared = expressions.get(operation);
                Class<?> userClass = operation.targetClass();
                if (method != null && door != null && declared != null && userClass != null) {
                    methods.put(new MethodClassKey(method, userClass), found(resolved, door, declared));
                    if (door == Door.METHOD && !resolved.off()) {
                        doors.checkResult(method, userClass, resolved.settings().storeResult());
                    }
                }
                if (reported.add(resolved.line())) {
                    resolved.report(log);
                }
            }
        }
    }

    private record KeyOf(@Nullable Method method, @Nullable Class<?> targetClass) {}
}
