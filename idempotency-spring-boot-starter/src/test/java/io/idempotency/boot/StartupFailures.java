package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.assertj.ApplicationContextAssertProvider;
import org.springframework.core.io.support.SpringFactoriesLoader;

/** What a user reads when a context does not start. */
final class StartupFailures {

    private StartupFailures() {}

    /** As Spring Boot does it: the first analyzer that has something to say. */
    static FailureAnalysis analysisOf(ApplicationContextAssertProvider<?> context) {
        Throwable failure = context.getStartupFailure();
        assertThat(failure).as("start-up failure").isNotNull();
        return analysisOf(Objects.requireNonNull(failure));
    }

    static FailureAnalysis analysisOf(Throwable failure) {
        return SpringFactoriesLoader.forDefaultResourceLocation(StartupFailures.class.getClassLoader())
                .load(
                        FailureAnalyzer.class,
                        SpringFactoriesLoader.FailureHandler.logging(
                                org.apache.commons.logging.LogFactory.getLog(StartupFailures.class)))
                .stream()
                .map(analyzer -> analyzer.analyze(failure))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("No analyzer for the start-up failure", failure));
    }
}
