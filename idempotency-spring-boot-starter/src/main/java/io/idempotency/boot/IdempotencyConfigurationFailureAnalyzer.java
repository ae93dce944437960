package io.idempotency.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;

/** Presents a configuration error as Spring Boot presents its own: what is wrong, and what to do. */
final class IdempotencyConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<IdempotencyConfigurationException>
        implements Ordered {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, IdempotencyConfigurationException cause) {
        return new FailureAnalysis(cause.problem() + ".", cause.remedy(), cause);
    }

    // Before the analyzer for failed bindings, which would name the whole prefix instead of the property.
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }
}
