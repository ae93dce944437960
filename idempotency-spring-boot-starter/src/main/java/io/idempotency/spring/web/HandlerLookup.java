package io.idempotency.spring.web;

import io.idempotency.spring.aop.IdempotentMethod;
import io.idempotency.spring.aop.IdempotentMethods;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.MappingMatch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.RequestPath;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.handler.AbstractHandlerMapping;
import org.springframework.web.servlet.handler.AbstractHandlerMethodMapping;
import org.springframework.web.servlet.mvc.condition.PathPatternsRequestCondition;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.resource.DefaultServletHttpRequestHandler;
import org.springframework.web.servlet.resource.ResourceHttpRequestHandler;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.pattern.PathPattern;

/**
 * Finds the handler of a request as the dispatcher is going to find it, without leaving a trace in the request. The dispatcher's
 * mappings are asked only where the path is one of an idempotent handler: other requests cost a look at the path.
 */
final class HandlerLookup {

    // With the slash before it: "/orders/**" is the pattern of "/orders" as well.
    private static final Pattern BEGINNING_END = Pattern.compile("/?(?:[{*?]|$)");

    private static final Logger log = LoggerFactory.getLogger(HandlerLookup.class);

    private final ListableBeanFactory beanFactory;
    private final IdempotentMethods methods;
    private final List<PathRule> rules;
    private volatile @Nullable Mappings mappings;

    HandlerLookup(ListableBeanFactory beanFactory, IdempotentMethods methods, List<PathRule> rules) {
        this.beanFactory = beanFactory;
        this.methods = methods;
        this.rules = rules;
    }

    /** The idempotent handler of the request; null if it has another one or none. */
    @Nullable
    IdempotentHandler find(HttpServletRequest request) {
        Mappings known = mappings();
        if (known.isEmpty() || known.isElsewhere(request)) {
            return null;
        }
        RequestPath path = ServletRequestPathUtils.parse(request);
        PathContainer withinApplication = path.pathWithinApplication();
        return known.mayHandle(withinApplication) ? look(known, request, path) : null;
    }

    /** Forgets what is known of the mappings: one was added. */
    void refresh() {
        mappings = null;
    }

    private Mappings mappings() {
        Mappings known = mappings;
        if (known == null) {
            known = Mappings.of(mappingsOf(beanFactory), methods, rules);
            mappings = known;
        }
        return known;
    }

    /** The mappings of the dispatcher, in its order. */
    static List<HandlerMapping> mappingsOf(ListableBeanFactory beanFactory) {
        return inOrder(beanFactory, HandlerMapping.class);
    }

    /** All beans of a type that the dispatcher uses, in its order. */
    static <T> List<T> inOrder(ListableBeanFactory beanFactory, Class<T> type) {
        List<T> all = new ArrayList<>(BeanFactoryUtils.beansOfTypeIncludingAncestors(beanFactory, type, true, false)
                .values());
        AnnotationAwareOrderComparator.sort(all);
        return all;
    }

    private @Nullable IdempotentHandler look(Mappings known, HttpServletRequest request, RequestPath path) {
        TracelessRequest traceless = new TracelessRequest(request);
        ServletRequestPathUtils.setParsedRequestPath(path, traceless);
        try {
            for (HandlerMapping mapping : known.all()) {
                HandlerExecutionChain chain = mapping.getHandler(traceless);
                if (chain != null) {
                    return idempotent(mapping, chain.getHandler(), request.getMethod(), path);
                }
            }
        } catch (Exception e) {
            // The dispatcher meets the same: a method or a media type that is not supported.
            log.debug("The request has no handler", e);
        }
        return null;
    }

    private @Nullable IdempotentHandler idempotent(
            HandlerMapping mapping, Object handler, String requestMethod, RequestPath path) {
        PathContainer within = path.pathWithinApplication();
        if (handler instanceof HandlerMethod ofMethod) {
            IdempotentMethod method = methods.find(ofMethod.getMethod(), ofMethod.getBeanType());
            if (method != null) {
                return new IdempotentHandler(handler, HttpOperation.of(method), false, within);
            }
        }
        PathRule rule = ruleOf(handler, requestMethod, within);
        if (rule != null) {
            if (mapping instanceof AbstractHandlerMapping) {
                return new IdempotentHandler(handler, rule.operation(), true, within);
            }
            log.error(
                    "The rule for {} does not protect its requests: {} has no interceptors, so that there can be no gate",
                    rule.pattern(),
                    mapping.getClass().getName());
        }
        return null;
    }

    /** The rule that makes a handler idempotent which the dispatcher is about to call; null if none does. */
    @Nullable
    PathRule ruleOf(HttpServletRequest request, Object handler) {
        if (rules.isEmpty() || !ServletRequestPathUtils.hasParsedRequestPath(request) || isAnnotated(handler)) {
            return null;
        }
        PathContainer within =
                ServletRequestPathUtils.getParsedRequestPath(request).pathWithinApplication();
        return ruleOf(handler, request.getMethod(), within);
    }

    private boolean isAnnotated(Object handler) {
        return handler instanceof HandlerMethod ofMethod
                && methods.find(ofMethod.getMethod(), ofMethod.getBeanType()) != null;
    }

    private @Nullable PathRule ruleOf(Object handler, String requestMethod, PathContainer path) {
        // These answer a POST with 405; they stand in for "no handler".
        if (handler instanceof ResourceHttpRequestHandler || handler instanceof DefaultServletHttpRequestHandler) {
            return null;
        }
        for (PathRule rule : rules) {
            if (rule.methods().contains(requestMethod) && rule.pattern().matches(path)) {
                return rule;
            }
        }
        return null;
    }

    /**
     * What is known of the dispatcher's mappings.
     *
     * @param all in their order
     * @param patterns of the paths of idempotent handlers
     * @param beginnings of these patterns, up to their first variable or wildcard
     * @param anyPath whether there are idempotent handlers whose paths are not known as patterns
     */
    private record Mappings(
            List<HandlerMapping> all, List<PathPattern> patterns, Set<String> beginnings, boolean anyPath) {

        static Mappings of(List<HandlerMapping> all, IdempotentMethods methods, List<PathRule> rules) {
            List<PathPattern> patterns =
                    new ArrayList<>(rules.stream().map(PathRule::pattern).toList());
            boolean anyPath = false;
            for (HandlerMapping mapping : all) {
                if (mapping instanceof AbstractHandlerMethodMapping<?> ofMethods) {
                    anyPath |= !collect(ofMethods, methods, patterns);
                }
            }
            Set<String> beginnings = patterns.stream()
                    .map(pattern -> BEGINNING_END.split(pattern.getPatternString(), 2)[0])
                    .collect(Collectors.toSet());
            return new Mappings(List.copyOf(all), List.copyOf(patterns), Set.copyOf(beginnings), anyPath);
        }

        private static boolean collect(
                AbstractHandlerMethodMapping<?> mapping, IdempotentMethods methods, List<PathPattern> patterns) {
            boolean complete = true;
            for (Map.Entry<?, HandlerMethod> each : mapping.getHandlerMethods().entrySet()) {
                HandlerMethod handler = each.getValue();
                if (methods.find(handler.getMethod(), handler.getBeanType()) != null) {
                    PathPatternsRequestCondition paths =
                            each.getKey() instanceof RequestMappingInfo info ? info.getPathPatternsCondition() : null;
                    complete &= paths != null;
                    patterns.addAll(paths == null ? List.of() : paths.getPatterns());
                }
            }
            return complete;
        }

        boolean isEmpty() {
            return patterns.isEmpty() && !anyPath;
        }

        /**
         * Whether the path is certainly none of an idempotent handler. Cheaper than to parse it: no letter's case is looked at, and
         * nothing is said of a path with encoded characters, parameters or a servlet's own path.
         */
        boolean isElsewhere(HttpServletRequest request) {
            String uri = request.getRequestURI();
            if (anyPath
                    || uri.indexOf('%') >= 0
                    || uri.indexOf(';') >= 0
                    || request.getHttpServletMapping().getMappingMatch() == MappingMatch.PATH) {
                return false;
            }
            int start = request.getContextPath().length();
            for (String beginning : beginnings) {
                if (uri.regionMatches(true, start, beginning, 0, beginning.length())) {
                    return false;
                }
            }
            return true;
        }

        boolean mayHandle(PathContainer path) {
            if (anyPath) {
                return true;
            }
            for (PathPattern pattern : patterns) {
                if (pattern.matches(path)) {
                    return true;
                }
            }
            return false;
        }
    }

    /** Keeps the attributes that mappings set away from the request. */
    private static final class TracelessRequest extends HttpServletRequestWrapper {

        private final Map<String, @Nullable Object> attributes = new HashMap<>();

        TracelessRequest(HttpServletRequest request) {
            super(request);
        }

        @Override
        public @Nullable Object getAttribute(String name) {
            return attributes.containsKey(name) ? attributes.get(name) : super.getAttribute(name);
        }

        @Override
        public void setAttribute(String name, @Nullable Object value) {
            attributes.put(name, value);
        }

        @Override
        public void removeAttribute(String name) {
            attributes.put(name, null);
        }
    }
}
