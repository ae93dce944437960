package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.Mode;
import io.idempotency.OnDuplicate;
import io.idempotency.boot.IdempotencyProperties.Client.Keys;
import io.idempotency.boot.IdempotencyProperties.Isolation;
import io.idempotency.boot.IdempotencyProperties.Jdbc.ClaimMode;
import io.idempotency.boot.IdempotencyProperties.Jdbc.InitializeSchema;
import io.idempotency.boot.IdempotencyProperties.OnStoreFailure;
import io.idempotency.boot.IdempotencyProperties.Store;
import io.idempotency.boot.IdempotencyProperties.Web.Anonymous;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.unit.DataSize;

class IdempotencyPropertiesTests {

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withUserConfiguration(PropertiesOnly.class);

    @Test
    void haveTheDocumentedDefaults() {
        bound(new String[0], properties -> {
            assertThat(properties.enabled()).isTrue();
            assertThat(properties.store()).isEqualTo(Store.AUTO);
            assertThat(properties.mode()).isEqualTo(Mode.ENFORCE);
            assertThat(properties.guarantee()).isEqualTo(Guarantee.AUTO);
            assertThat(properties.minimumGuarantee()).isNull();
            assertThat(properties.lease()).isEqualTo(Duration.ofSeconds(30));
            assertThat(properties.maxExecution()).isEqualTo(Duration.ofMinutes(10));
            assertThat(properties.retention()).isEqualTo(Duration.ofHours(24));
            assertThat(properties.waitAtMost()).isZero();
            assertThat(properties.onStoreFailure()).isEqualTo(OnStoreFailure.REJECT);
            assertThat(properties.storeResult()).isTrue();
            assertThat(properties.operations()).isEmpty();
            assertThat(properties.web().enabled()).isTrue();
            assertThat(properties.web().header()).isEqualTo("Idempotency-Key");
            assertThat(properties.web().required()).isTrue();
            assertThat(properties.web().fingerprintScheme()).isEqualTo(FingerprintScheme.RAW);
            assertThat(properties.web().maxRequestSize()).isEqualTo(DataSize.ofMegabytes(1));
            assertThat(properties.web().maxResponseSize()).isEqualTo(DataSize.ofMegabytes(1));
            assertThat(properties.web().maxSpillSize()).isEqualTo(DataSize.ofMegabytes(64));
            assertThat(properties.web().anonymous()).isNull();
            assertThat(properties.web().replayedHeader()).isEqualTo("Idempotent-Replayed");
            assertThat(properties.web().replayHeaders()).isEmpty();
            assertThat(properties.web().problemTypeBase()).isEqualTo("urn:idempotency:");
            assertThat(properties.web().order()).isEqualTo(-90);
            assertThat(properties.jdbc().tableName()).isEqualTo("idempotency_record");
            assertThat(properties.jdbc().initializeSchema()).isEqualTo(InitializeSchema.EMBEDDED);
            assertThat(properties.jdbc().claimMode()).isEqualTo(ClaimMode.AUTO);
            assertThat(properties.jdbc().queryTimeout()).isEqualTo(Duration.ofSeconds(5));
            assertThat(properties.jdbc().dataSource()).isNull();
            assertThat(properties.jdbc().transactionManager()).isNull();
            assertThat(properties.purge().enabled()).isTrue();
            assertThat(properties.purge().interval()).isEqualTo(Duration.ofMinutes(10));
            assertThat(properties.purge().batchSize()).isEqualTo(1000);
            assertThat(properties.client().keys()).isEqualTo(Keys.UUID_V7);
            assertThat(properties.client().node()).isNull();
        });
    }

    @Test
    void areBoundByTheirNames() {
        String[] values = {
            "idempotency.enabled=false",
            "idempotency.store=in-memory",
            "idempotency.mode=off",
            "idempotency.guarantee=at-most-once",
            "idempotency.minimum-guarantee=exactly-once",
            "idempotency.lease=1s",
            "idempotency.max-execution=PT2M",
            "idempotency.retention=3d",
            "idempotency.wait-at-most=4ms",
            "idempotency.on-store-failure=proceed",
            "idempotency.store-result=false",
            "idempotency.web.enabled=false",
            "idempotency.web.header=X-Request-Id",
            "idempotency.web.required=false",
            "idempotency.web.fingerprint-scheme=json",
            "idempotency.web.max-request-size=2MB",
            "idempotency.web.max-response-size=3KB",
            "idempotency.web.max-spill-size=4MB",
            "idempotency.web.anonymous=share",
            "idempotency.web.replayed-header=X-Replayed",
            "idempotency.web.replay-headers=X-One,X-Two",
            "idempotency.web.problem-type-base=https://example.com/problems/",
            "idempotency.web.order=5",
            "idempotency.web.rules[0].operation=imports",
            "idempotency.web.rules[0].path=/imports/**",
            "idempotency.web.rules[0].methods=put",
            "idempotency.jdbc.table-name=app.idem",
            "idempotency.jdbc.initialize-schema=always",
            "idempotency.jdbc.claim-mode=separate",
            "idempotency.jdbc.query-timeout=7s",
            "idempotency.jdbc.data-source=second",
            "idempotency.jdbc.transaction-manager=secondManager",
            "idempotency.jdbc.archive.enabled=true",
            "idempotency.jdbc.archive.table-name=app.old",
            "idempotency.purge.enabled=false",
            "idempotency.purge.interval=8m",
            "idempotency.purge.batch-size=9",
        };
        bound(values, properties -> {
            assertThat(properties.enabled()).isFalse();
            assertThat(properties.store()).isEqualTo(Store.IN_MEMORY);
            assertThat(properties.mode()).isEqualTo(Mode.OFF);
            assertThat(properties.guarantee()).isEqualTo(Guarantee.AT_MOST_ONCE);
            assertThat(properties.minimumGuarantee()).isEqualTo(Guarantee.EXACTLY_ONCE);
            assertThat(properties.lease()).isEqualTo(Duration.ofSeconds(1));
            assertThat(properties.maxExecution()).isEqualTo(Duration.ofMinutes(2));
            assertThat(properties.retention()).isEqualTo(Duration.ofDays(3));
            assertThat(properties.waitAtMost()).isEqualTo(Duration.ofMillis(4));
            assertThat(properties.onStoreFailure()).isEqualTo(OnStoreFailure.PROCEED);
            assertThat(properties.storeResult()).isFalse();
            assertThat(properties.web())
                    .isEqualTo(new IdempotencyProperties.Web(
                            false,
                            "X-Request-Id",
                            false,
                            FingerprintScheme.JSON,
                            DataSize.ofMegabytes(2),
                            DataSize.ofKilobytes(3),
                            DataSize.ofMegabytes(4),
                            Anonymous.SHARE,
                            "X-Replayed",
                            java.util.List.of("X-One", "X-Two"),
                            "https://example.com/problems/",
                            5,
                            java.util.List.of(new IdempotencyProperties.Web.Rule(
                                    "imports", "/imports/**", java.util.List.of("PUT")))));
            assertThat(properties.jdbc())
                    .isEqualTo(new IdempotencyProperties.Jdbc(
                            "app.idem",
                            InitializeSchema.ALWAYS,
                            ClaimMode.SEPARATE,
                            Duration.ofSeconds(7),
                            "second",
                            "secondManager",
                            new IdempotencyProperties.Jdbc.Archive(true, "app.old")));
            assertThat(properties.purge()).isEqualTo(new IdempotencyProperties.Purge(false, Duration.ofMinutes(8), 9));
        });
    }

    @Test
    void ofOneOperationAreBoundByItsName() {
        String[] values = {
            "idempotency.operations.pay.mode=off",
            "idempotency.operations.pay.guarantee=at-least-once",
            "idempotency.operations.pay.lease=1s",
            "idempotency.operations.pay.max-execution=2s",
            "idempotency.operations.pay.retention=3s",
            "idempotency.operations.pay.wait-at-most=4s",
            "idempotency.operations.pay.required=false",
            "idempotency.operations.pay.fingerprint-scheme=none",
            "idempotency.operations.pay.on-duplicate=reject",
            "idempotency.operations.pay.on-store-failure=proceed",
            "idempotency.operations.pay.store-result=false",
            "idempotency.operations.pay.store-failures=java.lang.IllegalStateException",
            "idempotency.operations.pay.release-failures=java.io.IOException,java.lang.Error",
            "idempotency.operations.pay.isolation=serializable",
            "idempotency.operations.pay.timeout=5s",
        };
        bound(
                values,
                properties -> assertThat(properties.operations())
                        .isEqualTo(Map.of(
                                "pay",
                                new IdempotencyProperties.Operation(
                                        Mode.OFF,
                                        Guarantee.AT_LEAST_ONCE,
                                        Duration.ofSeconds(1),
                                        Duration.ofSeconds(2),
                                        Duration.ofSeconds(3),
                                        Duration.ofSeconds(4),
                                        false,
                                        FingerprintScheme.NONE,
                                        OnDuplicate.REJECT,
                                        OnStoreFailure.PROCEED,
                                        false,
                                        java.util.List.of(IllegalStateException.class),
                                        java.util.List.of(IOException.class, Error.class),
                                        Isolation.SERIALIZABLE,
                                        Duration.ofSeconds(5)))));
    }

    // Cases 4 and 145.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lease | 0s | must be at least 1ms",
                "lease | -1s | must be at least 1ms",
                "lease | PT0S | must be at least 1ms",
                "lease | 999ns | must be at least 1ms",
                "lease | 36501d | must be 36500d at most",
                "retention | 0s | must be at least 1ms",
                "retention | -5s | must be at least 1ms",
                "retention | 36501d | must be 36500d at most",
                "max-execution | 0s | must be at least 1ms",
                "wait-at-most | -1ms | must not be negative",
                "operations.pay.lease | 0s | must be at least 1ms",
                "operations.pay.max-execution | -1s | must be at least 1ms",
                "operations.pay.retention | 36501d | must be 36500d at most",
                "operations.pay.wait-at-most | -1s | must not be negative",
                "operations.pay.timeout | 0s | must be whole seconds",
                "operations.pay.timeout | 1500ms | must be whole seconds",
                "operations.pay.store-failures | java.lang.String | is not an exception",
                "operations.pay.release-failures | java.lang.String | is not an exception",
                "jdbc.query-timeout | 0s | must be whole seconds",
                "jdbc.query-timeout | 10ms | must be whole seconds",
                "purge.interval | 0s | must be between 1ms and 36500d",
                "purge.interval | -1s | must be between 1ms and 36500d",
                "purge.batch-size | 0 | must be at least 1",
                "web.max-request-size | 0B | must be between 1B and 2047MB",
                "web.max-response-size | -1B | must be between 1B and 2047MB",
                "web.max-spill-size | 4GB | must be between 1B and 2047MB",
                "web.header | Idempotency Key | is not the name of a header",
                "web.replayed-header | '' | is not the name of a header",
                "web.replay-headers | X:Y | is not the name of a header",
                "web.fingerprint-scheme | default | is the default itself",
            })
    void refuseAValueByPropertyValueAndReason(String property, String value, String reason) {
        FailureAnalysis analysis = analysisOf("idempotency." + property + "=" + value);

        assertThat(analysis.getDescription())
                .startsWith("idempotency." + property + " is '" + printed(value) + "' and " + reason)
                .endsWith(".");
        assertThat(analysis.getAction()).isNotBlank();
    }

    private static String printed(String value) {
        return switch (value) {
            case "PT0S" -> "0s";
            case "999ns" -> "PT0.000000999S";
            case "4GB" -> "4294967296B";
            default -> value;
        };
    }

    // Case 145: Spring Boot reads a number without a unit as milliseconds.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "lease",
                "max-execution",
                "retention",
                "wait-at-most",
                "purge.interval",
                "jdbc.query-timeout",
                "operations.pay.lease",
                "operations.pay.timeout"
            })
    void refuseADurationWithoutAUnit(String property) {
        FailureAnalysis analysis = analysisOf("idempotency." + property + "=10");

        assertThat(analysis.getDescription()).isEqualTo("idempotency." + property + " is '10' and has no unit.");
        assertThat(analysis.getAction()).isEqualTo("Did you mean 10s?");
    }

    @Test
    void refuseADurationWithoutAUnitBehindAPlaceholder() {
        assertThat(analysisOf("idempotency.lease=${short}", "short=10").getDescription())
                .isEqualTo("idempotency.lease is '10' and has no unit.");
    }

    @Test
    void refuseADurationWithoutAUnitInAnEnvironmentVariable() {
        runner.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource(
                                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                Map.of("IDEMPOTENCY_MAXEXECUTION", "10"))))
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .isEqualTo("idempotency.max-execution is '10' and has no unit."));
    }

    // Case 145.
    @ParameterizedTest
    @CsvSource({
        "lease, abc, 'not a valid duration'",
        "store, mongo, 'AUTO IN_MEMORY JDBC REDIS TIERED'",
        "mode, dry, 'ENFORCE OBSERVE OFF'",
        "guarantee, maybe, 'EXACTLY_ONCE'",
        "on-store-failure, panic, 'PROCEED REJECT'",
        "web.max-request-size, huge, 'does not match data size pattern'",
        "operations.pay.guarantee, maybe, 'EXACTLY_ONCE'",
        "operations.pay.store-failures, com.acme.Missing, 'com.acme.Missing'",
    })
    void refuseAnUnreadableValueByPropertyAndValue(String property, String value, String reason) {
        FailureAnalysis analysis = analysisOf("idempotency." + property + "=" + value);

        assertThat((analysis.getDescription() + " " + analysis.getAction()).replaceAll("\\s+", " "))
                .contains("idempotency." + property, value, reason);
    }

    // Case 145.
    @Test
    void refuseANameThatDoesNotExist() {
        FailureAnalysis analysis = analysisOf("idempotency.retenton=5m");

        assertThat(analysis.getDescription()).contains("idempotency.retenton", "5m");
    }

    private void bound(String[] values, Consumer<IdempotencyProperties> assertion) {
        runner.withPropertyValues(values)
                .run(context -> assertion.accept(context.getBean(IdempotencyProperties.class)));
    }

    private FailureAnalysis analysisOf(String... values) {
        FailureAnalysis[] analysis = new FailureAnalysis[1];
        runner.withPropertyValues(values).run(context -> analysis[0] = StartupFailures.analysisOf(context));
        return analysis[0];
    }

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties(IdempotencyProperties.class)
    static class PropertiesOnly {

        @Bean
        static ConfigurationPropertiesBindHandlerAdvisor settings(Environment environment) {
            return handler -> new SettingsBindHandler(handler, environment);
        }
    }
}
