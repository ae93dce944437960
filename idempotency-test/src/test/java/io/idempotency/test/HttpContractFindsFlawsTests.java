package io.idempotency.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;
import org.junit.platform.testkit.engine.Events;

/** The rules for services are worth what they find: every flaw breaks its rules, and no other one. */
class HttpContractFindsFlawsTests {

    private static @Nullable HttpTarget target;

    @Test
    void serviceWithoutFlawBreaksNoRule() throws IOException {
        Events events = run(null, true);

        assertThat(events.succeeded().count()).isPositive();
        assertThat(events.failed().count()).isZero();
        assertThat(events.aborted().count()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void flawBreaksItsRules(HttpFlaw flaw) throws IOException {
        Set<String> broken = run(flaw, true).failed().stream()
                .map(HttpContractFindsFlawsTests::ruleOf)
                .collect(Collectors.toSet());

        assertThat(broken).isEqualTo(flaw.brokenRules);
    }

    /** Neither broken nor kept: who reads the report knows that nobody has looked. */
    @Test
    void tellsThatARuleWasNotRunWithoutAnotherCaller() throws IOException {
        Events events = run(HttpFlaw.CALLERS_SHARE_KEYS, false);

        assertThat(events.failed().count()).isZero();
        Event aborted = events.aborted().stream().findFirst().orElseThrow();
        assertThat(events.aborted().count()).isEqualTo(1);
        assertThat(ruleOf(aborted)).isEqualTo("keepsTheKeysOfCallersApart");
        assertThat(aborted.getRequiredPayload(TestExecutionResult.class)
                        .getThrowable()
                        .orElseThrow())
                .hasMessageContaining("Not run")
                .hasMessageContaining("HttpTarget.withCallers");
    }

    private static Events run(@Nullable HttpFlaw flaw, boolean withCallers) throws IOException {
        try (FlawedHttpService service = new FlawedHttpService(flaw)) {
            HttpTarget anonymous = HttpTarget.post(service.endpoint(), "\"body\"", "\"other body\"");
            target = withCallers ? anonymous.withCallers("Authorization", "alice", "bob") : anonymous;
            return EngineTestKit.engine("junit-jupiter")
                    .selectors(selectClass(OnService.class))
                    .execute()
                    .testEvents();
        }
    }

    private static String ruleOf(Event event) {
        return ((MethodSource) event.getTestDescriptor().getSource().orElseThrow()).getMethodName();
    }

    static class OnService extends HttpConformanceContract {

        @Override
        protected HttpTarget target() {
            return Objects.requireNonNull(target);
        }
    }
}
