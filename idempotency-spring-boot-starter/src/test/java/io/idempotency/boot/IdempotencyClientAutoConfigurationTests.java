package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.spring.client.IdempotencyKeyGenerator;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class IdempotencyClientAutoConfigurationTests {

    private static final String VERSION_7 = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(IdempotencyClientAutoConfiguration.class));

    private void withKeys(Consumer<String> test, String... properties) {
        runner.withPropertyValues(properties)
                .run(context -> test.accept(
                        context.getBean(IdempotencyKeyGenerator.class).nextKey()));
    }

    private void refused(ApplicationContextRunner runner, Consumer<FailureAnalysis> test) {
        runner.run(context -> test.accept(StartupFailures.analysisOf(context)));
    }

    @Test
    void makesUuidsOfVersion7UnlessToldOtherwise() {
        withKeys(key -> assertThat(key).matches(VERSION_7));
    }

    @ParameterizedTest
    @CsvSource({
        "uuid-v4, [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}",
        "tsid, [0-9A-Z]{13}",
        "snowflake, [0-9]{19}"
    })
    void makesWhatIsAskedFor(String keys, String pattern) {
        withKeys(
                key -> assertThat(key).matches(pattern),
                "idempotency.client.keys=" + keys,
                "idempotency.client.node=7");
    }

    @Test
    void aGeneratorOfTheApplicationWins() {
        runner.withBean(IdempotencyKeyGenerator.class, () -> () -> "mine")
                .run(context -> assertThat(
                                context.getBean(IdempotencyKeyGenerator.class).nextKey())
                        .isEqualTo("mine"));
    }

    // The application's clients do not depend on what protects the application.
    @Test
    void isThereWhereTheLibraryIsDisabled() {
        withKeys(key -> assertThat(key).matches(VERSION_7), "idempotency.enabled=false");
    }

    @Test
    void keysWithANodeNeedItsNumber() {
        refused(runner.withPropertyValues("idempotency.client.keys=tsid"), analysis -> {
            assertThat(analysis.getDescription()).startsWith("idempotency.client.keys is 'tsid' and needs the number");
            assertThat(analysis.getAction()).contains("idempotency.client.node");
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1024})
    void aNumberThatNoNodeCanHaveIsRefused(int node) {
        refused(
                runner.withPropertyValues("idempotency.client.keys=snowflake", "idempotency.client.node=" + node),
                analysis -> assertThat(analysis.getDescription())
                        .startsWith("idempotency.client.node is '" + node + "' and must be from 0 to 1023"));
    }

    @Test
    void worksWithoutTheLibraryWhereNothingAsksForIt() {
        runner.withClassLoader(new FilteredClassLoader("io.hypersistence.tsid"))
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @ValueSource(strings = {"tsid", "snowflake"})
    void aLibraryThatIsMissingIsNamed(String keys) {
        refused(
                runner.withClassLoader(new FilteredClassLoader("io.hypersistence.tsid"))
                        .withPropertyValues("idempotency.client.keys=" + keys, "idempotency.client.node=7"),
                analysis -> {
                    assertThat(analysis.getDescription())
                            .startsWith("idempotency.client.keys is '" + keys
                                    + "' and needs the library io.hypersistence:hypersistence-tsid");
                    assertThat(analysis.getAction()).contains("uuid-v7");
                });
    }
}
