package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.assertj.ApplicationContextAssertProvider;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

/** What a user reads when a context does not start. */
final class StartupFailures {

    private StartupFailures() {}

    static FailureAnalysis analysisOf(ApplicationContextAssertProvider<?> context) {
        Throwable failure = context.getStartupFailure();
        assertThat(failure).as("start-up failure").isNotNull();
        return analysisOf(Objects.requireNonNull(failure));
    }

    /** As Spring Boot does it: the first analyzer that has something to say. Those of the library come last if order allows it. */
    static FailureAnalysis analysisOf(Throwable failure) {
        List<FailureAnalyzer> analyzers =
                new ArrayList<>(SpringFactoriesLoader.forDefaultResourceLocation(StartupFailures.class.getClassLoader())
                        .load(FailureAnalyzer.class, FailureHandler.logging(LogFactory.getLog(StartupFailures.class))));
        analyzers.sort(
                Comparator.comparing(analyzer -> analyzer.getClass().getName().startsWith("io.idempotency")));
        AnnotationAwareOrderComparator.sort(analyzers);
        return analyzers.stream()
                .map(analyzer -> analyzer.analyze(failure))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("No analyzer for the start-up failure", failure));
    }
}
