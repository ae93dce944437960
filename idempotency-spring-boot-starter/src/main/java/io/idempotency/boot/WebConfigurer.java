package io.idempotency.boot;

import io.idempotency.boot.IdempotencyProperties.Web;
import io.idempotency.boot.IdempotencyProperties.Web.Anonymous;
import io.idempotency.boot.IdempotencyProperties.Web.Rule;
import io.idempotency.spring.aop.Door;
import io.idempotency.spring.web.PathRule;
import io.idempotency.spring.web.WebSettings;
import io.idempotency.spring.web.WebSettings.AnonymousCallers;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/** What the filter is told, by the properties and by whether Spring Security is there. */
final class WebConfigurer {

    private static final String SECURITY_FILTER_CHAIN = "org.springframework.security.web.SecurityFilterChain";
    private static final int DEFAULT_SECURITY_ORDER = -100;

    private final Web properties;
    private final Environment environment;
    private final boolean secured;

    WebConfigurer(Web properties, ConfigurableListableBeanFactory beanFactory, Environment environment) {
        this.properties = properties;
        this.environment = environment;
        this.secured = isSecured(beanFactory);
    }

    private static boolean isSecured(ConfigurableListableBeanFactory beanFactory) {
        try {
            Class<?> chain = ClassUtils.forName(SECURITY_FILTER_CHAIN, beanFactory.getBeanClassLoader());
            return beanFactory.getBeanNamesForType(chain, true, false).length > 0;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    WebSettings settings() {
        try {
            return new WebSettings(
                    properties.header(),
                    properties.maxRequestSize(),
                    properties.maxResponseSize(),
                    properties.maxSpillSize(),
                    anonymous(),
                    properties.replayedHeader(),
                    properties.replayHeaders(),
                    properties.problemTypeBase());
        } catch (IllegalArgumentException e) {
            throw new IdempotencyConfigurationException(
                    "idempotency.web.replay-headers is '" + String.join(",", properties.replayHeaders())
                            + "' and cannot be used: " + e.getMessage(),
                    "Remove that header.",
                    e);
        }
    }

    /** The rules whose operations are not off. */
    List<PathRule> rules(Operations operations) {
        List<PathRule> rules = new ArrayList<>();
        for (Rule rule : properties.rules()) {
            ResolvedOperation resolved = operations.resolve(DeclaredOperation.of(rule), Door.HTTP);
            if (!resolved.off()) {
                rules.add(new PathRule(
                        Set.copyOf(rule.methods()),
                        pattern(Objects.requireNonNull(rule.path())),
                        resolved.settings(),
                        resolved.keyRequired(),
                        resolved.fingerprintScheme()));
            }
        }
        return rules;
    }

    private static PathPattern pattern(String path) {
        try {
            return PathPatternParser.defaultInstance.parse(path);
        } catch (PatternParseException e) {
            throw new IdempotencyConfigurationException(
                    "idempotency.web.rules[].path is '" + path + "' and cannot be used: " + e.getMessage(),
                    "Write a pattern as in @PostMapping.",
                    e);
        }
    }

    private AnonymousCallers anonymous() {
        Anonymous chosen = properties.anonymous();
        if (chosen != null) {
            return chosen == Anonymous.REFUSE ? AnonymousCallers.REFUSE : AnonymousCallers.SHARE;
        }
        return secured ? AnonymousCallers.REFUSE : AnonymousCallers.SHARE;
    }

    /** Whether all callers share one key space although nobody has asked for it. */
    boolean sharesByDefault() {
        return properties.anonymous() == null && !secured;
    }

    /** Behind Spring Security: before it nobody is authenticated, and what it refuses would have been seen. */
    int order() {
        int security = environment.getProperty("spring.security.filter.order", Integer.class, DEFAULT_SECURITY_ORDER);
        if (secured && properties.order() <= security) {
            throw IdempotencyConfigurationException.ofProperty(
                    "idempotency.web.order",
                    properties.order(),
                    "is not behind Spring Security, whose filters have the order " + security,
                    "Set a larger number.");
        }
        return properties.order();
    }
}
