package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.Guarantee;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.Idempotent;
import io.idempotency.IdempotentOperation;
import io.idempotency.engine.OperationSettings;
import io.idempotency.spi.BusinessTransactions;
import io.idempotency.spring.aop.IdempotentMethod;
import io.idempotency.spring.aop.IdempotentMethods;
import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/** Which guarantee an operation gets, and what it is told. */
@ExtendWith(OutputCaptureExtension.class)
class GuaranteeTests {

    private static final String FULL_NAME = Controller.class.getName();

    private final WebApplicationContextRunner bare = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    IdempotencyAutoConfiguration.class,
                    IdempotencyInMemoryAutoConfiguration.class,
                    IdempotencyJdbcAutoConfiguration.class,
                    IdempotencyWebAutoConfiguration.class))
            .withPropertyValues("idempotency.store=jdbc")
            .withUserConfiguration(Mvc.class)
            .withBean(Controller.class);

    private final WebApplicationContextRunner withoutManager =
            bare.withBean("dataSource", DataSource.class, TestDataSources::h2);

    private final WebApplicationContextRunner runner = withoutManager.withUserConfiguration(OneManager.class);

    @Test
    void autoIsExactlyOnceWhereTheTransactionManagerIsOnTheDataSourceOfTheStore(CapturedOutput output) {
        runner.run(context -> {
            OperationSettings settings = settings(context, "pay");
            assertThat(settings.guarantee()).isEqualTo(Guarantee.EXACTLY_ONCE);
            assertThat(settings.transactions()).isNotNull();
            assertThat(settings.failOnWorkOutside()).isFalse();
            assertThat(output)
                    .containsOnlyOnce("controller-pay: EXACTLY_ONCE in jdbc(H2 ")
                    .containsPattern(
                            "controller-pay: EXACTLY_ONCE in jdbc\\(H2 [0-9.]+\\), retention 24h; remote calls at least once\\R");
        });
    }

    @Test
    void explicitExactlyOnceFailsOnWorkOutsideItsTransaction() {
        runner.withPropertyValues("idempotency.operations.controller-pay.guarantee=exactly-once")
                .run(context ->
                        assertThat(settings(context, "pay").failOnWorkOutside()).isTrue());
    }

    @Test
    void minimumGuaranteeIsReached() {
        runner.withBean(PlainController.class)
                .withPropertyValues("idempotency.minimum-guarantee=at-least-once")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "requiresNew | its propagation REQUIRES_NEW leaves the transaction of the claim",
                "notSupported | its propagation NOT_SUPPORTED leaves the transaction of the claim",
                "never | its propagation NEVER refuses the transaction of the claim",
                "readOnly | its transaction is read-only",
                "unknownManager | its @Transactional names the transaction manager 'nobody', which does not exist",
            })
    void explicitExactlyOnceThatCannotHoldFailsWithTheReason(String method, String reason) {
        runner.withPropertyValues("idempotency.operations." + operation(method) + ".guarantee=exactly-once")
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .startsWith("EXACTLY_ONCE cannot hold for operation " + operation(method) + ": ")
                        .contains(reason)
                        .endsWith("It is asked for by idempotency.operations." + operation(method) + ".guarantee."));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "requiresNew | its propagation REQUIRES_NEW leaves the transaction of the claim",
                "notSupported | its propagation NOT_SUPPORTED leaves the transaction of the claim",
                "never | its propagation NEVER refuses the transaction of the claim",
                "readOnly | its transaction is read-only",
                "unknownManager | its @Transactional names the transaction manager 'nobody', which does not exist",
            })
    void autoThatCannotBeExactlyOnceIsAtLeastOnceAndSaysWhy(String method, String reason, CapturedOutput output) {
        runner.run(context -> {
            assertThat(settings(context, method).guarantee()).isEqualTo(Guarantee.AT_LEAST_ONCE);
            assertThat(output.toString().lines())
                    .anyMatch(line -> line.contains(operation(method) + ": AT_LEAST_ONCE in jdbc(H2 ")
                            && line.contains("(not EXACTLY_ONCE: ")
                            && line.contains(reason));
        });
    }

    @Test
    void theGlobalPropertyIsNamedAsWhoAsksForExactlyOnce() {
        withoutManager
                .withPropertyValues("idempotency.guarantee=exactly-once")
                .run(context -> assertThat(StartupFailures.analysisOf(context).getDescription())
                        .contains(": there is no transaction manager. ")
                        .endsWith("It is asked for by idempotency.guarantee."));
    }

    @Test
    void aForeignManagerCannotHoldIt() {
        withoutManager
                .withUserConfiguration(ForeignManager.class)
                .run(context -> assertThat(why(context, "pay")).contains("ForeignTransactionManager is not a"));
    }

    @Test
    void aManagerOnAnotherDataSourceCannotHoldIt() {
        withoutManager
                .withUserConfiguration(ManagerOnAnotherDataSource.class)
                .run(context -> assertThat(why(context, "pay")).contains("works on another DataSource"));
    }

    @Test
    void aRoutingDataSourceCannotHoldIt() {
        bare.withUserConfiguration(Routing.class)
                .run(context -> assertThat(why(context, "pay")).contains("routes to several databases"));
    }

    @Test
    void proxiesOfTheDataSourceAreSeenThrough() {
        bare.withUserConfiguration(Proxied.class)
                .run(context -> assertThat(settings(context, "pay").guarantee()).isEqualTo(Guarantee.EXACTLY_ONCE));
    }

    @Test
    void theManagerOfTheMethodDecides() {
        withoutManager.withUserConfiguration(TwoManagers.class).run(context -> {
            assertThat(settings(context, "pay").guarantee()).isEqualTo(Guarantee.EXACTLY_ONCE);
            assertThat(why(context, "named")).contains("works on another DataSource");
        });
    }

    @Test
    void theManagerOfTheMethodDecidesAlsoAgainstTheConfiguredOne() {
        withoutManager
                .withUserConfiguration(TwoManagers.class)
                .withPropertyValues("idempotency.jdbc.transaction-manager=other")
                .run(context -> {
                    assertThat(why(context, "pay")).contains("works on another DataSource");
                    assertThat(settings(context, "transactional").guarantee()).isEqualTo(Guarantee.EXACTLY_ONCE);
                });
    }

    @Test
    void theQualifierOfTheClassDecides() {
        withoutManager
                .withUserConfiguration(TwoManagers.class)
                .withBean(QualifiedController.class)
                .run(context -> {
                    ExactlyOnce exactlyOnce = context.getBean(ExactlyOnce.class);
                    java.lang.reflect.Method pay = QualifiedController.class.getMethod("pay");
                    assertThat(exactlyOnce.of(pay, QualifiedController.class, null, null))
                            .isInstanceOfSatisfying(
                                    ExactlyOnce.Answer.Impossible.class,
                                    impossible ->
                                            assertThat(impossible.reason()).contains("another DataSource"));
                });
    }

    @Test
    void theConfigurerOfTransactionManagementDecides() {
        withoutManager
                .withUserConfiguration(TwoManagers.class)
                .withBean(
                        TransactionManagementConfigurer.class,
                        () -> () -> new JdbcTransactionManager(TestDataSources.h2()))
                .run(context -> assertThat(why(context, "transactional")).contains("works on another DataSource"));
    }

    @Test
    void aReactiveManagerCannotHoldIt() {
        withoutManager
                .withBean("transactionManager", TransactionManager.class, () -> new TransactionManager() {})
                .run(context -> assertThat(why(context, "pay")).contains("reactive"));
    }

    @Test
    void theConfiguredManagerDecidesForMethodsWithoutOne() {
        withoutManager
                .withUserConfiguration(TwoManagersNonePrimary.class)
                .withPropertyValues("idempotency.jdbc.transaction-manager=own")
                .run(context -> assertThat(settings(context, "pay").guarantee()).isEqualTo(Guarantee.EXACTLY_ONCE));
    }

    @Test
    void theMarkedManagerDecidesForMethodsWithoutOne() {
        withoutManager
                .withUserConfiguration(MarkedManager.class)
                .run(context -> assertThat(settings(context, "pay").guarantee()).isEqualTo(Guarantee.EXACTLY_ONCE));
    }

    @Test
    void noManagerIsGuessed() {
        withoutManager
                .withUserConfiguration(TwoManagersNonePrimary.class)
                .run(context -> assertThat(why(context, "pay"))
                        .contains("several transaction managers and none of them is primary (")
                        .contains("own", "other", "idempotency.jdbc.transaction-manager"));
    }

    @Test
    void theConfiguredManagerMustExist() {
        runner.withPropertyValues("idempotency.jdbc.transaction-manager=nobody").run(context -> {
            assertThat(StartupFailures.analysisOf(context).getDescription())
                    .isEqualTo(
                            "idempotency.jdbc.transaction-manager is 'nobody' and is not the name of a transaction manager bean.");
            assertThat(StartupFailures.analysisOf(context).getAction()).isEqualTo("There are: transactionManager.");
        });
    }

    @Test
    void theTransactionHasTheAttributesOfTheMethod() {
        runner.run(context -> {
            BusinessTransactions transactions = transactions(context, "attributed");
            assertThat(transactions.serializable()).isTrue();
            assertThat(transactions.rollsBackOn(new IOException())).isTrue();
            assertThat(transactions.rollsBackOn(new IllegalStateException())).isFalse();
        });
    }

    @Test
    void configuredAttributesHoldWhereTheMethodHasNone() {
        runner.withPropertyValues(
                        "idempotency.operations.controller-pay.isolation=serializable",
                        "idempotency.operations.controller-transactional.isolation=serializable",
                        "idempotency.operations.controller-read-committed.isolation=serializable")
                .run(context -> {
                    assertThat(transactions(context, "pay").serializable()).isTrue();
                    assertThat(transactions(context, "transactional").serializable())
                            .isTrue();
                    assertThat(transactions(context, "readCommitted").serializable())
                            .isFalse();
                });
    }

    @Test
    void aConfiguredTimeoutReachesTheTransaction() {
        withoutManager
                .withUserConfiguration(RecordingManager.class)
                .withPropertyValues("idempotency.operations.controller-pay.timeout=17s")
                .run(context -> {
                    transactions(context, "pay").inNew(transaction -> "done");
                    assertThat(context.getBean(RecordingManager.class).timeout).isEqualTo(17);
                });
    }

    @Test
    void withoutTransactionalEveryExceptionRollsBack() {
        runner.run(context -> {
            assertThat(transactions(context, "pay").rollsBackOn(new IOException()))
                    .isTrue();
            assertThat(transactions(context, "transactional").rollsBackOn(new IOException()))
                    .isFalse();
        });
    }

    @Test
    void theTemplateIsExactlyOnceInItsOwnTransactionOrTheCallers() {
        runner.run(context -> {
            IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
            boolean[] inTransaction = new boolean[1];

            template.execute(
                    IdempotentOperation.named("greet", String.class).build(), "k", () -> {
                        inTransaction[0] = org.springframework.transaction.support.TransactionSynchronizationManager
                                .isActualTransactionActive();
                        return "hello";
                    });

            assertThat(inTransaction[0]).isTrue();
        });
    }

    @Test
    void otherManagersTellOfWorkOutside() {
        withoutManager
                .withUserConfiguration(TwoManagers.class)
                .run(context -> assertThat(context.getBean("other", ConfigurableTransactionManager.class)
                                .getTransactionExecutionListeners())
                        .hasSize(1));
    }

    private static String operation(String method) {
        return OperationNames.ofMethod(method(method), Controller.class);
    }

    private static java.lang.reflect.Method method(String name) {
        return Arrays.stream(Controller.class.getMethods())
                .filter(method -> method.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static OperationSettings settings(AssertableWebApplicationContext context, String name) {
        assertThat(context).hasNotFailed();
        IdempotentMethod found = context.getBean(IdempotentMethods.class).find(method(name), Controller.class);
        return Objects.requireNonNull(found).settings();
    }

    private static BusinessTransactions transactions(AssertableWebApplicationContext context, String name) {
        return Objects.requireNonNull(settings(context, name).transactions());
    }

    private static String why(AssertableWebApplicationContext context, String name) {
        assertThat(settings(context, name).guarantee()).isEqualTo(Guarantee.AT_LEAST_ONCE);
        ExactlyOnce.Answer answer = context.getBean(ExactlyOnce.class).of(method(name), Controller.class, null, null);
        return ((ExactlyOnce.Answer.Impossible) answer).reason();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    @EnableTransactionManagement
    static class Mvc {}

    @RestController
    static class PlainController {}

    @RestController
    static class Controller {

        @PostMapping("/pay")
        @Idempotent
        public String pay() {
            return "";
        }

        @PostMapping("/transactional")
        @Idempotent
        @Transactional
        public String transactional() {
            return "";
        }

        @PostMapping("/requires-new")
        @Idempotent
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public String requiresNew() {
            return "";
        }

        @PostMapping("/not-supported")
        @Idempotent
        @Transactional(propagation = Propagation.NOT_SUPPORTED)
        public String notSupported() {
            return "";
        }

        @PostMapping("/never")
        @Idempotent
        @Transactional(propagation = Propagation.NEVER)
        public String never() {
            return "";
        }

        @PostMapping("/read-only")
        @Idempotent
        @Transactional(readOnly = true)
        public String readOnly() {
            return "";
        }

        @PostMapping("/unknown-manager")
        @Idempotent
        @Transactional("nobody")
        public String unknownManager() {
            return "";
        }

        @PostMapping("/named")
        @Idempotent
        @Transactional("other")
        public String named() {
            return "";
        }

        @PostMapping("/read-committed")
        @Idempotent
        @Transactional(isolation = Isolation.READ_COMMITTED)
        public String readCommitted() {
            return "";
        }

        @PostMapping("/attributed")
        @Idempotent
        @Transactional(
                isolation = Isolation.SERIALIZABLE,
                rollbackFor = IOException.class,
                noRollbackFor = IllegalStateException.class)
        public String attributed() {
            return "";
        }
    }

    @RestController
    @Qualifier("other")
    static class QualifiedController {

        @PostMapping("/qualified")
        @Idempotent
        @Transactional
        public String pay() {
            return "";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OneManager {

        @Bean
        JdbcTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoManagers {

        @Bean
        @org.springframework.context.annotation.Primary
        JdbcTransactionManager own(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        JdbcTransactionManager other() {
            return new JdbcTransactionManager(TestDataSources.h2());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoManagersNonePrimary {

        @Bean
        JdbcTransactionManager own(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        JdbcTransactionManager other() {
            return new JdbcTransactionManager(TestDataSources.h2());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MarkedManager {

        @Bean
        @IdempotencyTransactionManager
        JdbcTransactionManager own(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        JdbcTransactionManager other() {
            return new JdbcTransactionManager(TestDataSources.h2());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ManagerOnAnotherDataSource {

        @Bean
        TransactionManager transactionManager() {
            return new JdbcTransactionManager(TestDataSources.h2());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ForeignManager {

        @Bean
        TransactionManager transactionManager() {
            return new ForeignTransactionManager();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Routing {

        @Bean
        DataSource dataSource() {
            AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
                @Override
                protected Object determineCurrentLookupKey() {
                    return "one";
                }
            };
            routing.setTargetDataSources(java.util.Map.of("one", TestDataSources.h2()));
            return routing;
        }

        @Bean
        JdbcTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Proxied {

        private final DataSource target = TestDataSources.h2();

        @Bean
        DataSource dataSource() {
            return new TransactionAwareDataSourceProxy(new DelegatingDataSource(target));
        }

        @Bean
        PlatformTransactionManager transactionManager() {
            return new JdbcTransactionManager(new LazyConnectionDataSourceProxy(target));
        }
    }

    static class RecordingManager extends JdbcTransactionManager {

        private int timeout;

        RecordingManager(DataSource dataSource) {
            super(dataSource);
        }

        @Override
        protected void doBegin(Object transaction, org.springframework.transaction.TransactionDefinition definition) {
            timeout = definition.getTimeout();
            super.doBegin(transaction, definition);
        }
    }

    static class ForeignTransactionManager extends AbstractPlatformTransactionManager {

        @Override
        protected Object doGetTransaction() {
            return new Object();
        }

        @Override
        protected void doBegin(Object transaction, org.springframework.transaction.TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {}

        @Override
        protected void doRollback(DefaultTransactionStatus status) {}
    }
}
