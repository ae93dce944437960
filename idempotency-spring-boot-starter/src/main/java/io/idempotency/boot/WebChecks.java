package io.idempotency.boot;

import io.idempotency.spring.aop.IdempotentMethods;
import io.idempotency.spring.web.HandlerChecks;
import io.idempotency.spring.web.HandlerChecks.Failure;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;

/** Checks the idempotent handlers once all of them are known. */
final class WebChecks implements SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(WebChecks.class);

    private final HandlerChecks checks;
    private final MvcHandlerMethods handlers;
    private final IdempotentMethods methods;
    private final WebConfigurer web;

    WebChecks(HandlerChecks checks, MvcHandlerMethods handlers, IdempotentMethods methods, WebConfigurer web) {
        this.checks = checks;
        this.handlers = handlers;
        this.methods = methods;
        this.web = web;
    }

    @Override
    public void afterSingletonsInstantiated() {
        HandlerChecks.Findings findings = checks.run();
        if (!findings.failures().isEmpty()) {
            throw refusal(findings.failures());
        }
        findings.warnings().forEach(log::warn);
        if (web.sharesByDefault() && handlers.any((method, type) -> methods.find(method, type) != null)) {
            log.warn(
                    "Without Spring Security all callers of an operation share one key space: whoever sends another caller's key"
                            + " and payload gets his result. Set idempotency.web.anonymous=share if that is right, or refuse");
        }
    }

    private static IdempotencyConfigurationException refusal(List<Failure> failures) {
        return new IdempotencyConfigurationException(
                failures.stream().map(Failure::description).collect(Collectors.joining(".\n")),
                failures.stream().map(Failure::action).distinct().collect(Collectors.joining("\n")));
    }
}
