package io.idempotency.spring.web;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.http.server.PathContainer;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.UrlBasedCorsConfigurationSource;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.handler.AbstractHandlerMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.util.pattern.PathPatternParser;

/** Finds out whether browsers of other origins may send the header of the key. */
final class CorsChecks {

    private final String header;
    private final Set<String> paths = new TreeSet<>();
    private final Set<CorsConfigurationSource> ofMappings = new LinkedHashSet<>();
    private final Set<String> closed = new LinkedHashSet<>();

    CorsChecks(String header) {
        this.header = header;
    }

    void add(AbstractHandlerMapping mapping, HandlerMethod handler, Object info) {
        if (info instanceof RequestMappingInfo known) {
            paths.addAll(known.getPatternValues());
        }
        CorsConfigurationSource source = mapping.getCorsConfigurationSource();
        if (source != null) {
            ofMappings.add(source);
        }
        addLocal(handler);
    }

    // Headers of the method are added to those of its class; none at all means all.
    private void addLocal(HandlerMethod handler) {
        CrossOrigin onMethod = AnnotatedElementUtils.findMergedAnnotation(handler.getMethod(), CrossOrigin.class);
        CrossOrigin onType = AnnotatedElementUtils.findMergedAnnotation(
                ClassUtils.getUserClass(handler.getBeanType()), CrossOrigin.class);
        Set<String> allowed = new LinkedHashSet<>(allowedBy(onMethod));
        allowed.addAll(allowedBy(onType));
        if (!allowed.isEmpty() && !allows(allowed)) {
            closed.add("@CrossOrigin of " + handler.getBeanType().getName() + "."
                    + handler.getMethod().getName()
                    + " does not allow the request header " + header + ", so that browsers cannot send a key: add \""
                    + header
                    + "\" to its allowedHeaders");
        }
    }

    private static List<String> allowedBy(@Nullable CrossOrigin annotation) {
        return annotation == null ? List.of() : List.of(annotation.allowedHeaders());
    }

    private boolean allows(Collection<String> allowed) {
        return allowed.stream().anyMatch(each -> each.equals("*") || each.equalsIgnoreCase(header));
    }

    List<String> warnings(ListableBeanFactory beanFactory) {
        List<String> warnings = new ArrayList<>(closed);
        if (!paths.isEmpty()) {
            ofMappings.forEach(source ->
                    check(source, "add .allowedHeaders(\"" + header + "\") to its CorsRegistration", warnings));
            beanFactory
                    .getBeansOfType(CorsConfigurationSource.class, true, false)
                    .values()
                    .forEach(source -> check(
                            source, "call addAllowedHeader(\"" + header + "\") on its CorsConfiguration", warnings));
        }
        return List.copyOf(warnings);
    }

    private void check(CorsConfigurationSource source, String remedy, List<String> warnings) {
        if (!(source instanceof UrlBasedCorsConfigurationSource byUrl)) {
            return;
        }
        for (Map.Entry<String, CorsConfiguration> each :
                byUrl.getCorsConfigurations().entrySet()) {
            CorsConfiguration configuration = each.getValue();
            if (isOpenToOthers(configuration) && !allows(headers(configuration)) && coversAHandler(each.getKey())) {
                warnings.add("CORS of " + each.getKey() + " does not allow the request header " + header
                        + ", so that browsers cannot send a key: " + remedy);
            }
        }
    }

    private static boolean isOpenToOthers(CorsConfiguration configuration) {
        return !isEmpty(configuration.getAllowedOrigins()) || !isEmpty(configuration.getAllowedOriginPatterns());
    }

    private static boolean isEmpty(@Nullable List<String> list) {
        return list == null || list.isEmpty();
    }

    private static List<String> headers(CorsConfiguration configuration) {
        List<String> headers = configuration.getAllowedHeaders();
        return headers == null ? List.of() : headers;
    }

    private boolean coversAHandler(String pattern) {
        return paths.stream()
                .anyMatch(path ->
                        PathPatternParser.defaultInstance.parse(pattern).matches(PathContainer.parsePath(path)));
    }
}
