package io.idempotency.boot;

import io.idempotency.spring.aop.IdempotentAnnotations;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodClassKey;
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

    private final Supplier<Map<MethodClassKey, Boolean>> safeByHandler;

    /** @param mappings asked once, when all of them have found their handlers */
    MvcHandlerMethods(Supplier<Stream<RequestMappingInfoHandlerMapping>> mappings) {
        this.safeByHandler = SingletonSupplier.of(() -> safeByHandler(mappings.get()));
    }

    private static Map<MethodClassKey, Boolean> safeByHandler(Stream<RequestMappingInfoHandlerMapping> mappings) {
        Map<MethodClassKey, Boolean> safe = new HashMap<>();
        mappings.forEach(mapping -> mapping.getHandlerMethods()
                .forEach((info, handler) -> safe.merge(keyOf(handler), isSafe(info), Boolean::logicalAnd)));
        return safe;
    }

    private static MethodClassKey keyOf(HandlerMethod handler) {
        Class<?> userClass = ClassUtils.getUserClass(handler.getBeanType());
        return new MethodClassKey(IdempotentAnnotations.mostSpecific(handler.getMethod(), userClass), userClass);
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
        return safeByHandler.get().get(new MethodClassKey(method, userClass));
    }

    @Override
    public String limitation() {
        return "it is no controller method of Spring MVC, and this version protects only these by annotation";
    }
}
