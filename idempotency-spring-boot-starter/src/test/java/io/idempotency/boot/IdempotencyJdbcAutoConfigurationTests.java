package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotentOperation;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.jdbc.JdbcIdempotencyStore;
import io.idempotency.spi.IdempotencyStore;
import io.idempotency.support.InMemoryIdempotencyStore;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

@ExtendWith(OutputCaptureExtension.class)
class IdempotencyJdbcAutoConfigurationTests {

    private static final IdempotentOperation<String> GREET =
            IdempotentOperation.named("greet", String.class).build();

    private final ApplicationContextRunner withoutDataSource = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    IdempotencyAutoConfiguration.class,
                    IdempotencyInMemoryAutoConfiguration.class,
                    IdempotencyJdbcAutoConfiguration.class))
            .withClassLoader(new FilteredClassLoader("io.idempotency.redis"));

    private final ApplicationContextRunner runner =
            withoutDataSource.withBean("dataSource", DataSource.class, TestDataSources::h2);

    @Nested
    class TheStore {

        @Test
        void isTheOneOfTheOnlyModule() {
            runner.run(context -> {
                assertThat(context).hasSingleBean(JdbcIdempotencyStore.class);
                assertThat(context.getBean(IdempotencyEngine.class).store().name())
                        .startsWith("jdbc(H2 2.");
            });
        }

        @Test
        void canBeAskedForByName() {
            runner.withPropertyValues("idempotency.store=jdbc")
                    .run(context -> assertThat(context).hasSingleBean(JdbcIdempotencyStore.class));
        }

        @Test
        void isAbsentWhereAnotherOneIsAskedFor() {
            runner.withPropertyValues("idempotency.store=in-memory")
                    .run(context -> assertThat(context)
                            .hasNotFailed()
                            .doesNotHaveBean(JdbcIdempotencyStore.class)
                            .hasSingleBean(InMemoryIdempotencyStore.class));
        }

        @Test
        void doesNotStandInForOneThatIsMissing() {
            runner.withPropertyValues("idempotency.store=redis")
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .isEqualTo("idempotency.store is 'redis' and its module is not there."));
        }

        @Test
        void isAbsentWhereTheLibraryIsDisabled() {
            runner.withPropertyValues("idempotency.enabled=false")
                    .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(IdempotencyStore.class));
        }

        // Case 141.
        @Test
        void yieldsToAStoreOfTheApplication() {
            runner.withBean(IdempotencyStore.class, InMemoryIdempotencyStore::onSystemClock)
                    .run(context -> assertThat(context)
                            .hasSingleBean(IdempotencyStore.class)
                            .doesNotHaveBean(JdbcIdempotencyStore.class));
        }

        @Test
        void needsADataSource() {
            withoutDataSource.run(context -> assertThat(
                            StartupFailures.analysisOf(context).getDescription())
                    .isEqualTo("There is no idempotency store: the application has the module idempotency-jdbc, but no"
                            + " DataSource bean."));
        }

        // Case 146.
        @Test
        void needsItsModule() {
            ApplicationContextRunner withoutModule =
                    runner.withClassLoader(new FilteredClassLoader("io.idempotency.jdbc", "io.idempotency.redis"));

            withoutModule.run(
                    context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                            .isEqualTo("There is no idempotency store: the application has no store module."));
            withoutModule
                    .withPropertyValues("idempotency.store=jdbc")
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getAction())
                            .startsWith("Add the dependency idempotency-jdbc"));
        }

        // Case 146.
        @Test
        void isNotMissedWithoutSpringTx() {
            withoutDataSource
                    .withClassLoader(new FilteredClassLoader("org.springframework.transaction"))
                    .withPropertyValues("idempotency.store=in-memory")
                    .run(context -> assertThat(context).hasNotFailed().hasSingleBean(IdempotencyTemplate.class));
        }
    }

    /** Case 141. */
    @Nested
    class OfSeveralDataSources {

        private final ApplicationContextRunner two = runner.withBean("second", DataSource.class, TestDataSources::h2);

        @Test
        void thePrimaryIsUsed() {
            withoutDataSource
                    .withBean("first", DataSource.class, TestDataSources::h2)
                    .withBean(
                            "second", DataSource.class, TestDataSources::h2, definition -> definition.setPrimary(true))
                    .run(context -> landsIn("second", context.getBean(IdempotencyTemplate.class), context::getBean));
        }

        @Test
        void noneIsGuessed() {
            two.run(context -> {
                FailureAnalysis analysis = StartupFailures.analysisOf(context);
                assertThat(analysis.getDescription())
                        .isEqualTo(
                                "There are several DataSource beans and none of them is primary: dataSource, second.");
                assertThat(analysis.getAction()).contains("idempotency.jdbc.data-source", "@IdempotencyDataSource");
            });
        }

        @Test
        void theConfiguredOneIsUsed() {
            two.withPropertyValues("idempotency.jdbc.data-source=second")
                    .run(context -> landsIn("second", context.getBean(IdempotencyTemplate.class), context::getBean));
        }

        @Test
        void theConfiguredOneMustExist() {
            two.withPropertyValues("idempotency.jdbc.data-source=third").run(context -> {
                FailureAnalysis analysis = StartupFailures.analysisOf(context);
                assertThat(analysis.getDescription())
                        .isEqualTo("idempotency.jdbc.data-source is 'third' and is not the name of a DataSource bean.");
                assertThat(analysis.getAction()).isEqualTo("There are: dataSource, second.");
            });
        }

        @Test
        void theMarkedOneIsUsed() {
            runner.withUserConfiguration(MarkedDataSource.class)
                    .run(context -> landsIn("marked", context.getBean(IdempotencyTemplate.class), context::getBean));
        }

        @Test
        void theConfiguredOneIsUsedBeforeTheMarkedOne() {
            runner.withUserConfiguration(MarkedDataSource.class)
                    .withPropertyValues("idempotency.jdbc.data-source=dataSource")
                    .run(context ->
                            landsIn("dataSource", context.getBean(IdempotencyTemplate.class), context::getBean));
        }

        private void landsIn(
                String name,
                IdempotencyTemplate template,
                java.util.function.BiFunction<String, Class<DataSource>, DataSource> beans) {
            template.execute(GREET, "k", () -> "hello");

            assertThat(TestDataSources.records(beans.apply(name, DataSource.class)))
                    .isEqualTo(1);
        }
    }

    @Nested
    class TheTable {

        private final ApplicationContextRunner inAFile =
                withoutDataSource.withBean("dataSource", DataSource.class, TestDataSources::h2InAFile);

        @Test
        void isMadeInAnEmbeddedDatabase() {
            runner.run(context -> assertThat(TestDataSources.hasTable(context.getBean(DataSource.class)))
                    .isTrue());
        }

        @Test
        void isNotMadeInADatabaseThatIsNotEmbedded() {
            inAFile.run(context -> {
                FailureAnalysis analysis = StartupFailures.analysisOf(context);
                assertThat(analysis.getDescription())
                        .matches("Table idempotency_record \\(schema PUBLIC, user SA, H2 [0-9.]+\\) is missing\\.");
                assertThat(analysis.getAction())
                        .contains(
                                "idempotency.jdbc.initialize-schema=always",
                                "io/idempotency/jdbc/schema-h2.sql",
                                "Flyway",
                                "Liquibase",
                                "SELECT, INSERT, UPDATE and DELETE");
            });
        }

        @Test
        void isMadeInEveryDatabaseWhereThatIsAskedFor() {
            inAFile.withPropertyValues("idempotency.jdbc.initialize-schema=always")
                    .run(context -> assertThat(TestDataSources.hasTable(context.getBean(DataSource.class)))
                            .isTrue());
        }

        @Test
        void isNeverMadeWhereThatIsAskedFor() {
            runner.withPropertyValues("idempotency.jdbc.initialize-schema=never")
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .contains("is missing"));
        }

        @Test
        void isNotUsedWithoutTheRights() {
            String url = "jdbc:h2:mem:" + UUID.randomUUID();
            DataSource owner = new DriverManagerDataSource(url + ";DB_CLOSE_DELAY=-1", "sa", "");
            new ResourceDatabasePopulator(new ClassPathResource("io/idempotency/jdbc/schema-h2.sql")).execute(owner);
            new JdbcTemplate(owner).execute("create user reader password 'secret'");
            new JdbcTemplate(owner).execute("grant select, insert on idempotency_record to reader");

            withoutDataSource
                    .withBean(DataSource.class, () -> new DriverManagerDataSource(url, "reader", "secret"))
                    .run(context -> {
                        FailureAnalysis analysis = StartupFailures.analysisOf(context);
                        assertThat(analysis.getDescription())
                                .contains("Table idempotency_record", "user READER", "lacks a right");
                        assertThat(analysis.getAction()).contains("SELECT, INSERT, UPDATE and DELETE");
                    });
        }

        // With Spring Boot 4 these are jars of their own.
        @Test
        void isOnlyMadeOnDemandWithoutSpringBootsKnowledgeOfDatabases() {
            inAFile.withClassLoader(new FilteredClassLoader(
                            "org.springframework.boot.sql", "org.springframework.boot.jdbc", "io.idempotency.redis"))
                    .withPropertyValues("idempotency.jdbc.initialize-schema=always")
                    .run(context -> assertThat(context).hasNotFailed().hasSingleBean(JdbcIdempotencyStore.class));
        }

        @Test
        void isLookedForAfterTheDatabaseWasInitialized() {
            runner.withUserConfiguration(Migration.class)
                    .withPropertyValues("idempotency.jdbc.initialize-schema=never")
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(context.getBeanFactory()
                                        .getBeanDefinition("idempotencyStore")
                                        .getDependsOn())
                                .contains("migration");
                    });
        }

        // Case 64.
        @ParameterizedTest
        @ValueSource(
                strings = {
                    "idem; drop table users",
                    "a\"b",
                    "a`b",
                    "a b",
                    "",
                    "one.two.three",
                    "abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_"
                            + "abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij"
                })
        void isNotNamedByWhatIsNoName(String name) {
            runner.withPropertyValues("idempotency.jdbc.table-name=" + name).run(context -> {
                assertThat(StartupFailures.analysisOf(context).getDescription())
                        .isEqualTo("idempotency.jdbc.table-name is '" + name + "' and cannot be used.");
            });
        }

        // Case 64.
        @Test
        void canBeInASchema() {
            DataSource dataSource = TestDataSources.h2();
            new JdbcTemplate(dataSource).execute("create schema app");
            withoutDataSource
                    .withBean(DataSource.class, () -> dataSource)
                    .withPropertyValues("idempotency.jdbc.table-name=app.idem")
                    .run(context -> {
                        context.getBean(IdempotencyTemplate.class).execute(GREET, "k", () -> "hello");
                        assertThat(new JdbcTemplate(dataSource)
                                        .queryForObject("select count(*) from app.idem", Integer.class))
                                .isEqualTo(1);
                    });
        }

        // Case 64.
        @Test
        void isNotNamedByAReservedWord() {
            runner.withPropertyValues("idempotency.jdbc.table-name=ORDER").run(context -> {
                FailureAnalysis analysis = StartupFailures.analysisOf(context);
                assertThat(analysis.getDescription()).contains("Table ORDER", "means something else in SQL");
            });
        }
    }

    @Nested
    class TheDatabase {

        @Test
        void mayBeAwayAtStart(CapturedOutput output) {
            withoutDataSource
                    .withBean(DataSource.class, TestDataSources::unreachable)
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(output)
                                .containsOnlyOnce("The database cannot be reached, so the table of the idempotency");
                    });
        }

        @Test
        void isOneThatTheStoreWorksOn() {
            withoutDataSource
                    .withBean(DataSource.class, () -> TestDataSources.ofProduct("Oracle"))
                    .run(context -> {
                        FailureAnalysis analysis = StartupFailures.analysisOf(context);
                        assertThat(analysis.getDescription()).contains("Oracle", "H2 2.", "PostgreSQL 1");
                        assertThat(analysis.getAction()).contains("idempotency.jdbc.data-source");
                    });
        }

        @Test
        void isWarnedOfWhereItLosesCommits(CapturedOutput output) {
            inAFileWithoutWriteDelay().run(context -> assertThat(output).contains("WRITE_DELAY"));
        }

        private ApplicationContextRunner inAFileWithoutWriteDelay() {
            return withoutDataSource
                    .withBean(DataSource.class, TestDataSources::h2InAFile)
                    .withPropertyValues("idempotency.jdbc.initialize-schema=always");
        }
    }

    @Test
    void scriptsAndMessagesAreInANativeImage() {
        RuntimeHints hints = new RuntimeHints();

        new IdempotencyRuntimeHints().registerHints(hints, null);

        assertThat(List.of("io/idempotency/jdbc/schema-h2.sql", "io/idempotency/jdbc/schema-postgresql.sql"))
                .allSatisfy(script -> {
                    assertThat(Objects.requireNonNull(getClass().getClassLoader())
                                    .getResource(script))
                            .isNotNull();
                    assertThat(RuntimeHintsPredicates.resource().forResource(script))
                            .accepts(hints);
                });
        assertThat(RuntimeHintsPredicates.resource().forBundle("io.idempotency.spring.web.messages"))
                .accepts(hints);
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedDataSource {

        @Bean(defaultCandidate = false)
        @IdempotencyDataSource
        DataSource marked() {
            return TestDataSources.h2();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Migration {

        @Bean
        DataSourceScriptDatabaseInitializer migration(DataSource dataSource) {
            DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
            settings.setMode(DatabaseInitializationMode.ALWAYS);
            settings.setSchemaLocations(List.of("classpath:io/idempotency/jdbc/schema-h2.sql"));
            return new DataSourceScriptDatabaseInitializer(dataSource, settings);
        }
    }
}
