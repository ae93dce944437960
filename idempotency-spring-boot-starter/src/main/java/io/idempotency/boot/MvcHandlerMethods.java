package io.idempotency.boot;

import io.idempotency.spring.aop.IdempotentAnnotations;
import io.idempotency.spring.web.IdempotencyGateAdvisor;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;

/** The controller methods of Spring MVC, as its handler mappings know them. */
final class MvcHandlerMethods implements HandlerMethods {

    private static final Set<RequestMethod> SAFE =
            Set.of(RequestMethod.GET, RequestMethod.HEAD, RequestMethod.OPTIONS, RequestMethod.TRACE);

    private final ConfigurableListableBeanFactory beanFactory;
    private final Supplier<Map<Handler, Boolean>> safeByHandler;

    /** @param mappings asked once, when all of them have found their handlers */
    MvcHandlerMethods(
            ConfigurableListableBeanFactory beanFactory, Supplier<Stream<RequestMappingInfoHandlerMapping>> mappings) {
        this.beanFactory = beanFactory;
        this.safeByHandler = SingletonSupplier.of(() -> safeByHandler(mappings.get()));
    }

    private static Map<Handler, Boolean> safeByHandler(Stream<RequestMappingInfoHandlerMapping> mappings) {
        Map<Handler, Boolean> safe = new HashMap<>();
        mappings.forEach(mapping -> mapping.getHandlerMethods()
                .forEach((info, handler) -> safe.merge(keyOf(handler), isSafe(info), Boolean::logicalAnd)));
        return safe;
    }

    private static Handler keyOf(HandlerMethod handler) {
        Class<?> userClass = ClassUtils.getUserClass(handler.getBeanType());
        return new Handler(IdempotentAnnotations.mostSpecific(handler.getMethod(), userClass), userClass);
    }

    private static boolean isSafe(RequestMappingInfo info) {
        Set<RequestMethod> methods = info.getMethodsCondition().getMethods();
        return !methods.isEmpty() && SAFE.containsAll(methods);
    }

    @Override
    public boolean isHandler(Method method, Class<?> userClass) {
        return safe(method, userClass) != null;
    }

    @Override
    public boolean isSafe(Method method, Class<?> userClass) {
        return Boolean.TRUE.equals(safe(method, userClass));
    }

    private @Nullable Boolean safe(Method method, Class<?> userClass) {
        return safeByHandler.get().get(new Handler(method, userClass));
    }

    /** Whether the condition holds for any handler and the class of its bean. */
    boolean any(BiPredicate<Method, Class<?>> condition) {
        return safeByHandler.get().keySet().stream()
                .anyMatch(handler -> condition.test(handler.method(), handler.userClass()));
    }

    @Override
    public String limitation() {
        return "no HandlerMapping of Spring MVC calls it, so that no request brings its key";
    }

    @Override
    public void checkGate(String beanName, Class<?> userClass) {
        ProxyChecks.check(beanFactory, beanName, userClass, IdempotencyGateAdvisor.class);
    }

    private record Handler(Method method, Class<?> userClass) {}
}
