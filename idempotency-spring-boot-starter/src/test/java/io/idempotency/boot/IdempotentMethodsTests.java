package io.idempotency.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.idempotency.FingerprintScheme;
import io.idempotency.Guarantee;
import io.idempotency.Idempotent;
import io.idempotency.IdempotentOperation;
import io.idempotency.OnDuplicate;
import io.idempotency.Toggle;
import io.idempotency.engine.OperationSettings;
import io.idempotency.spring.aop.IdempotentMethod;
import io.idempotency.spring.aop.IdempotentMethods;
import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

@ExtendWith(OutputCaptureExtension.class)
class IdempotentMethodsTests {

    private static final AutoConfigurations AUTO_CONFIGURATIONS = AutoConfigurations.of(
            AopAutoConfiguration.class,
            IdempotencyAutoConfiguration.class,
            IdempotencyDisabledAutoConfiguration.class,
            IdempotencyInMemoryAutoConfiguration.class,
            IdempotencyWebAutoConfiguration.class);

    private final WebApplicationContextRunner web = new WebApplicationContextRunner()
            .withConfiguration(AUTO_CONFIGURATIONS)
            .withUserConfiguration(Mvc.class)
            .withPropertyValues("idempotency.store=in-memory");

    private final ApplicationContextRunner worker = new ApplicationContextRunner()
            .withConfiguration(AUTO_CONFIGURATIONS)
            .withPropertyValues("idempotency.store=in-memory");

    @Nested
    class Finding {

        @Test
        void aMethodOfAClass() {
            found(PaymentController.class, "pay", (methods, method) -> {
                assertThat(method.settings().operation()).isEqualTo("payment-controller-pay");
                assertThat(method.method().getDeclaringClass()).isEqualTo(PaymentController.class);
                assertThat(method.keyRequired()).isTrue();
                assertThat(method.fingerprintScheme()).isEqualTo(FingerprintScheme.RAW);
            });
        }

        @Test
        void aMethodOfAGenericInterfaceByWhateverMethodItIsCalled() throws NoSuchMethodException {
            java.lang.reflect.Method ofInterface = Orders.class.getMethod("create", Object.class);

            found(OrderController.class, "create", (methods, method) -> {
                assertThat(method.settings().operation()).isEqualTo("order-controller-create");
                assertThat(method.method().getParameterTypes()).containsExactly(String.class);
                assertThat(methods.find(ofInterface, OrderController.class)).isEqualTo(method);
            });
        }

        @Test
        void aMetaAnnotationWithItsOwnAttributes() {
            found(
                    MetaController.class,
                    "pay",
                    (methods, method) ->
                            assertThat(method.settings().retention()).isEqualTo(Duration.ofDays(7)));
        }

        @Test
        void anAnnotatedClassMeansItsHandlersThatChangeSomething() {
            web.withBean(AnnotatedClassController.class).run(context -> {
                IdempotentMethods methods = context.getBean(IdempotentMethods.class);

                assertThat(find(methods, AnnotatedClassController.class, "create"))
                        .isNotNull();
                assertThat(find(methods, AnnotatedClassController.class, "read"))
                        .isNull();
                assertThat(find(methods, AnnotatedClassController.class, "noHandler"))
                        .isNull();
            });
        }

        @Test
        void nothingWhereNothingIsAnnotated() {
            web.withBean(PlainController.class)
                    .run(context -> assertThat(
                                    find(context.getBean(IdempotentMethods.class), PlainController.class, "create"))
                            .isNull());
        }

        @Test
        void withoutCreatingBeans() {
            LazyController.created = 0;
            web.withBean(LazyController.class, () -> new LazyController(), definition -> definition.setLazyInit(true))
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(LazyController.created).isZero();
                    });
        }

        @Test
        void withoutCreatingFactories() {
            LazyFactory.created = 0;
            web.withBean(LazyFactory.class, () -> new LazyFactory(), definition -> definition.setLazyInit(true))
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(LazyFactory.created).isZero();
                    });
        }
    }

    @Nested
    class Precedence {

        @Test
        void ofAnnotationsOverGlobalProperties() {
            found(
                    FullController.class,
                    "pay",
                    new String[] {
                        "idempotency.lease=1s",
                        "idempotency.retention=1s",
                        "idempotency.max-execution=1s",
                        "idempotency.wait-at-most=1s",
                        "idempotency.web.required=true",
                        "idempotency.web.fingerprint-scheme=json",
                        "idempotency.store-result=true",
                        "short=7s"
                    },
                    method -> {
                        OperationSettings settings = method.settings();
                        assertThat(settings.operation()).isEqualTo("full");
                        assertThat(settings.guarantee()).isEqualTo(Guarantee.AT_MOST_ONCE);
                        assertThat(settings.lease()).isEqualTo(Duration.ofSeconds(7));
                        assertThat(settings.maxExecution()).isEqualTo(Duration.ofMinutes(2));
                        assertThat(settings.retention()).isEqualTo(Duration.ofHours(3));
                        assertThat(settings.waitAtMost()).isEqualTo(Duration.ofMillis(40));
                        assertThat(settings.rejectDuplicates()).isTrue();
                        assertThat(settings.storeResult()).isFalse();
                        assertThat(settings.proceedOnStoreFailure()).isFalse();
                        assertThat(settings.outcomePolicy()
                                        .onThrow(new IOException(), Guarantee.AT_MOST_ONCE)
                                        .name())
                                .isEqualTo("STORE");
                        assertThat(method.keyRequired()).isFalse();
                        assertThat(method.fingerprintScheme()).isEqualTo(FingerprintScheme.NONE);
                    });
        }

        @Test
        void ofPropertiesOfTheOperationOverTheAnnotation() {
            found(
                    FullController.class,
                    "pay",
                    new String[] {
                        "idempotency.operations.full.guarantee=at-least-once",
                        "idempotency.operations.full.lease=8s",
                        "idempotency.operations.full.max-execution=9m",
                        "idempotency.operations.full.retention=10h",
                        "idempotency.operations.full.wait-at-most=11ms",
                        "idempotency.operations.full.on-duplicate=replay",
                        "idempotency.operations.full.store-result=true",
                        "idempotency.operations.full.on-store-failure=proceed",
                        "idempotency.operations.full.required=true",
                        "idempotency.operations.full.fingerprint-scheme=raw",
                        "idempotency.operations.full.store-failures=java.lang.IllegalStateException",
                        "idempotency.operations.full.release-failures=java.io.IOException",
                        "short=7s"
                    },
                    method -> {
                        OperationSettings settings = method.settings();
                        assertThat(settings.guarantee()).isEqualTo(Guarantee.AT_LEAST_ONCE);
                        assertThat(settings.lease()).isEqualTo(Duration.ofSeconds(8));
                        assertThat(settings.maxExecution()).isEqualTo(Duration.ofMinutes(9));
                        assertThat(settings.retention()).isEqualTo(Duration.ofHours(10));
                        assertThat(settings.waitAtMost()).isEqualTo(Duration.ofMillis(11));
                        assertThat(settings.rejectDuplicates()).isFalse();
                        assertThat(settings.storeResult()).isTrue();
                        assertThat(settings.proceedOnStoreFailure()).isTrue();
                        assertThat(settings.outcomePolicy()
                                        .onThrow(new IOException(), Guarantee.AT_LEAST_ONCE)
                                        .name())
                                .isEqualTo("RELEASE");
                        assertThat(method.keyRequired()).isTrue();
                        assertThat(method.fingerprintScheme()).isEqualTo(FingerprintScheme.RAW);
                    });
        }

        @Test
        void ofGlobalPropertiesWhereNothingElseIsSaid() {
            found(
                    PaymentController.class,
                    "pay",
                    new String[] {
                        "idempotency.guarantee=at-most-once",
                        "idempotency.lease=1s",
                        "idempotency.max-execution=2s",
                        "idempotency.retention=3s",
                        "idempotency.wait-at-most=4s",
                        "idempotency.on-store-failure=proceed",
                        "idempotency.store-result=false",
                        "idempotency.web.required=false",
                        "idempotency.web.fingerprint-scheme=json"
                    },
                    method -> {
                        OperationSettings settings = method.settings();
                        assertThat(settings.guarantee()).isEqualTo(Guarantee.AT_MOST_ONCE);
                        assertThat(settings.lease()).isEqualTo(Duration.ofSeconds(1));
                        assertThat(settings.maxExecution()).isEqualTo(Duration.ofSeconds(2));
                        assertThat(settings.retention()).isEqualTo(Duration.ofSeconds(3));
                        assertThat(settings.waitAtMost()).isEqualTo(Duration.ofSeconds(4));
                        assertThat(settings.proceedOnStoreFailure()).isTrue();
                        assertThat(settings.storeResult()).isFalse();
                        assertThat(method.keyRequired()).isFalse();
                        assertThat(method.fingerprintScheme()).isEqualTo(FingerprintScheme.JSON);
                    });
        }

        @Test
        void holdsForANameAsEnvironmentVariablesWriteIt() {
            found(
                    PaymentController.class,
                    "pay",
                    new String[] {"idempotency.operations.paymentcontrollerpay.lease=9s"},
                    method -> assertThat(method.settings().lease()).isEqualTo(Duration.ofSeconds(9)));
        }
    }

    @Nested
    class Refusing {

        // Case 145.
        @ParameterizedTest
        @ValueSource(classes = {NoUnitController.class, ParsecsController.class, UnknownPlaceholderController.class})
        void aDurationThatCannotBeRead(Class<?> controller) {
            FailureAnalysis analysis = failureOf(controller);

            assertThat(analysis.getDescription())
                    .contains("retention = \"", "of @Idempotent on " + controller.getName() + ".pay");
        }

        @Test
        void aDurationWithoutAUnitByWhatIsMeant() {
            assertThat(failureOf(NoUnitController.class).getDescription())
                    .isEqualTo("retention = \"10\" of @Idempotent on " + NoUnitController.class.getName()
                            + ".pay has no unit.");
            assertThat(failureOf(NoUnitController.class).getAction()).isEqualTo("Did you mean 10s?");
        }

        // Case 4.
        @Test
        void aDurationOfZero() {
            assertThat(failureOf(ZeroController.class).getDescription())
                    .isEqualTo("lease = \"PT0S\" of @Idempotent on " + ZeroController.class.getName()
                            + ".pay must be at least 1ms.");
        }

        @Test
        void aPlaceholderWithABadValue() {
            web.withBean(FullController.class)
                    .withPropertyValues("short=10")
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .startsWith("lease = \"${short}\" (10) of @Idempotent on " + FullController.class.getName()
                                    + ".pay has no unit"));
        }

        @Test
        void twoDefaultNamesThatClash() {
            FailureAnalysis analysis = failureOf(OverloadedController.class);

            assertThat(analysis.getDescription())
                    .startsWith("Two operations would have the name overloaded-controller-pay");
            assertThat(analysis.getAction()).contains("@Idempotent(operation");
        }

        @Test
        void aNameThatIsNone() {
            assertThat(failureOf(BadNameController.class).getDescription())
                    .contains("@Idempotent(operation = \"Pay!\") on " + BadNameController.class.getName() + ".pay");
        }

        @Test
        void aDefaultNameThatCannotBeMade() {
            assertThat(failureOf(UnicodeController.class).getDescription())
                    .startsWith("No name for the operation can be made of " + UnicodeController.class.getName());
        }

        @Test
        void aPropertyOfAnOperationThatDoesNotExist() {
            web.withBean(PaymentController.class)
                    .withPropertyValues("idempotency.operations.payment-controller-pya.lease=1s")
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .isEqualTo("idempotency.operations.payment-controller-pya names no operation."
                                    + " Known operations: payment-controller-pay."));
        }

        @Test
        void aMethodThatHandlesOnlySafeRequests() {
            assertThat(failureOf(SafeController.class).getDescription())
                    .startsWith("@Idempotent on " + SafeController.class.getName() + ".read is mapped to [GET]");
        }

        @ParameterizedTest
        @ValueSource(classes = {FinalController.class, PrivateController.class})
        void aMethodThatCannotBeIntercepted(Class<?> controller) {
            assertThat(failureOf(controller).getDescription())
                    .startsWith("@Idempotent on " + controller.getName() + ".pay cannot be applied");
        }

        // Case 146.
        @Test
        void anAnnotationInAnApplicationWithoutServletMvc() {
            worker.withBean(PaymentController.class).run(context -> {
                FailureAnalysis analysis = StartupFailures.analysisOf(context);
                assertThat(analysis.getDescription())
                        .contains(PaymentController.class.getName() + ".pay", "no servlet-based Spring MVC");
                assertThat(analysis.getAction()).contains("IdempotencyTemplate");
            });
        }

        // Case 146.
        @Test
        void aBeanThatIsNotProxied() {
            web.withBean(PaymentController.class)
                    .withPropertyValues("spring.aop.auto=false")
                    .run(context -> {
                        FailureAnalysis analysis = StartupFailures.analysisOf(context);
                        assertThat(analysis.getDescription())
                                .startsWith("@Idempotent on " + PaymentController.class.getName())
                                .contains("is not proxied");
                        assertThat(analysis.getAction()).contains("spring.aop.auto");
                    });
        }

        // Case 146.
        @Test
        void aLazyBeanThatWillNotBeProxied() {
            web.withBean(PaymentController.class, PaymentController::new, definition -> definition.setLazyInit(true))
                    .withPropertyValues("spring.aop.auto=false")
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .contains("is not proxied"));
        }

        // Case 145.
        @Test
        void explicitExactlyOnceThatCannotHold() {
            FailureAnalysis analysis = failureOf(ExactlyOnceController.class);

            assertThat(analysis.getDescription())
                    .isEqualTo(
                            "EXACTLY_ONCE cannot hold for operation exactly-once-controller-pay: the store in-memory has no"
                                    + " part in the application's transactions. It is asked for by "
                                    + ExactlyOnceController.class.getName() + ".pay.");
        }

        @Test
        void lessThanTheMinimumGuarantee() {
            web.withBean(PaymentController.class)
                    .withPropertyValues("idempotency.minimum-guarantee=exactly-once")
                    .run(context -> assertThat(
                                    StartupFailures.analysisOf(context).getDescription())
                            .startsWith("idempotency.minimum-guarantee is 'EXACTLY_ONCE', and operation"
                                    + " payment-controller-pay would be AT_LEAST_ONCE"));
        }
    }

    @Nested
    class Telling {

        @Test
        void oneLinePerOperation(CapturedOutput output) {
            web.withBean(PaymentController.class)
                    .withBean(
                            "greet",
                            IdempotentOperation.class,
                            () -> IdempotentOperation.named("greet").build())
                    .run(context -> assertThat(output)
                            .contains(
                                    "payment-controller-pay: AT_LEAST_ONCE in in-memory, lease 30s, retention 24h (not"
                                            + " EXACTLY_ONCE: the store in-memory has no part in the application's transactions)")
                            .contains("greet: AT_LEAST_ONCE in in-memory"));
        }

        @Test
        void whatHappensToAbandonedRecordsOfAtMostOnce(CapturedOutput output) {
            web.withBean(PaymentController.class)
                    .withPropertyValues("idempotency.guarantee=at-most-once")
                    .run(context -> assertThat(output)
                            .contains("payment-controller-pay: AT_MOST_ONCE without an OutcomeResolver"));
        }

        // Case 145.
        @Test
        void thatTheRetentionIsShorterThanAnExecution(CapturedOutput output) {
            web.withBean(PaymentController.class)
                    .withPropertyValues("idempotency.retention=5m")
                    .run(context -> assertThat(output)
                            .contains("payment-controller-pay: retention 5m is shorter than max-execution 10m"));
        }

        // Case 145.
        @Test
        void thatTheRetentionIsShorterThanTheLease(CapturedOutput output) {
            web.withBean(PaymentController.class)
                    .withPropertyValues("idempotency.retention=20m", "idempotency.lease=1h")
                    .run(context -> assertThat(output)
                            .contains("payment-controller-pay: retention 20m is shorter than lease 1h"));
        }

        @Test
        void howManyRunUnprotectedWhereItIsDisabled(CapturedOutput output) {
            web.withBean(PaymentController.class)
                    .withBean(PlainService.class)
                    .withPropertyValues("idempotency.enabled=false")
                    .run(context -> assertThat(output)
                            .containsOnlyOnce(
                                    "idempotency.enabled is false: 2 bean(s) with @Idempotent run unprotected"));
        }

        @Test
        void nothingWhereItIsDisabledAndNotUsed(CapturedOutput output) {
            web.withBean(PlainController.class)
                    .withPropertyValues("idempotency.enabled=false")
                    .run(context -> assertThat(output).doesNotContain("unprotected"));
        }

        @Test
        void howManyRunUnprotectedWhereTheModeIsOff(CapturedOutput output) {
            web.withBean(PaymentController.class)
                    .withPropertyValues("idempotency.mode=off")
                    .run(context -> {
                        assertThat(output)
                                .containsOnlyOnce(
                                        "idempotency.mode is off: 1 bean(s) with @Idempotent run unprotected");
                        assertThat(find(context.getBean(IdempotentMethods.class), PaymentController.class, "pay"))
                                .isNull();
                    });
        }

        @Test
        void howManyRunUnprotectedWhereTheWebIsNotProtected(CapturedOutput output) {
            web.withBean(PaymentController.class)
                    .withPropertyValues(
                            "idempotency.web.enabled=false", "idempotency.operations.payment-controller-pay.lease=1s")
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(output).containsOnlyOnce("idempotency.web.enabled is false: 1 bean(s)");
                        assertThat(find(context.getBean(IdempotentMethods.class), PaymentController.class, "pay"))
                                .isNull();
                    });
        }

        @Test
        void whichOperationIsSwitchedOff(CapturedOutput output) {
            web.withBean(PaymentController.class)
                    .withPropertyValues("idempotency.operations.payment-controller-pay.mode=off")
                    .run(context -> {
                        assertThat(output).containsOnlyOnce("payment-controller-pay: its mode is off");
                        assertThat(find(context.getBean(IdempotentMethods.class), PaymentController.class, "pay"))
                                .isNull();
                    });
        }
    }

    private FailureAnalysis failureOf(Class<?> bean) {
        FailureAnalysis[] analysis = new FailureAnalysis[1];
        web.withBean(bean).run(context -> analysis[0] = StartupFailures.analysisOf(context));
        return analysis[0];
    }

    private void found(Class<?> controller, String name, BiConsumer<IdempotentMethods, IdempotentMethod> assertion) {
        web.withBean(controller).run(context -> {
            IdempotentMethods methods = context.getBean(IdempotentMethods.class);
            assertion.accept(methods, find(methods, controller, name));
        });
    }

    private void found(
            Class<?> controller,
            String name,
            String[] values,
            java.util.function.Consumer<IdempotentMethod> assertion) {
        web.withBean(controller).withPropertyValues(values).run(context -> {
            assertThat(context).hasNotFailed();
            assertion.accept(find(context.getBean(IdempotentMethods.class), controller, name));
        });
    }

    @SuppressWarnings("NullAway")
    private static IdempotentMethod find(IdempotentMethods methods, Class<?> type, String name) {
        return methods.find(
                Arrays.stream(type.getMethods())
                        .filter(method -> method.getName().equals(name) && !method.isBridge())
                        .findFirst()
                        .orElseThrow(),
                type);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    static class Mvc {}

    @RestController
    static class PaymentController {

        @PostMapping("/payments")
        @Idempotent
        public String pay() {
            return "paid";
        }
    }

    interface Orders<T> {

        @Idempotent
        @PostMapping("/orders")
        ResponseEntity<String> create(T order);
    }

    @RestController
    static class OrderController implements Orders<String> {

        @Override
        public ResponseEntity<String> create(String order) {
            return ResponseEntity.ok(order);
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Idempotent
    @interface KeptFor {

        @AliasFor(annotation = Idempotent.class, attribute = "retention")
        String value();
    }

    @RestController
    static class MetaController {

        @PostMapping("/payments")
        @KeptFor("7d")
        public String pay() {
            return "paid";
        }
    }

    @RestController
    @Idempotent
    static class AnnotatedClassController {

        @PostMapping("/orders")
        public String create() {
            return "created";
        }

        @GetMapping("/orders")
        public String read() {
            return "read";
        }

        public String noHandler() {
            return "";
        }
    }

    @RestController
    static class PlainController {

        @PostMapping("/orders")
        public String create() {
            return "created";
        }
    }

    @RestController
    static class LazyController {

        private static int created;

        LazyController() {
            created++;
        }

        @PostMapping("/orders")
        @Idempotent
        public String create() {
            return "created";
        }
    }

    static class LazyFactory implements FactoryBean<Object> {

        private static int created;

        LazyFactory() {
            created++;
        }

        @Override
        public Object getObject() {
            return new Object();
        }

        @Override
        public Class<?> getObjectType() {
            return null;
        }
    }

    @RestController
    static class FullController {

        @PostMapping("/payments")
        @Idempotent(
                operation = "full",
                guarantee = Guarantee.AT_MOST_ONCE,
                lease = "${short}",
                maxExecution = "PT2M",
                retention = "3h",
                waitAtMost = "40ms",
                required = Toggle.OFF,
                onDuplicate = OnDuplicate.REJECT,
                storeResult = Toggle.OFF,
                storeFailures = IOException.class,
                fingerprintScheme = FingerprintScheme.NONE)
        public String pay() {
            return "paid";
        }
    }

    @RestController
    static class NoUnitController {

        @PostMapping("/payments")
        @Idempotent(retention = "10")
        public String pay() {
            return "paid";
        }
    }

    @RestController
    static class ParsecsController {

        @PostMapping("/payments")
        @Idempotent(retention = "5 parsecs")
        public String pay() {
            return "paid";
        }
    }

    @RestController
    static class UnknownPlaceholderController {

        @PostMapping("/payments")
        @Idempotent(retention = "${nobody.knows}")
        public String pay() {
            return "paid";
        }
    }

    @RestController
    static class ZeroController {

        @PostMapping("/payments")
        @Idempotent(lease = "PT0S")
        public String pay() {
            return "paid";
        }
    }

    @RestController
    static class OverloadedController {

        @PostMapping("/payments")
        @Idempotent
        public String pay() {
            return "paid";
        }

        @PutMapping("/payments")
        @Idempotent
        public String pay(String what) {
            return what;
        }
    }

    @RestController
    static class BadNameController {

        @PostMapping("/payments")
        @Idempotent(operation = "Pay!")
        public String pay() {
            return "paid";
        }
    }

    @RestController
    static class UnicodeController {

        @PostMapping("/payments")
        @Idempotent
        public String 支付() {
            return "paid";
        }
    }

    @RestController
    static class SafeController {

        @GetMapping("/payments")
        @Idempotent
        public String read() {
            return "read";
        }
    }

    @RestController
    static class FinalController {

        @PostMapping("/payments")
        @Idempotent
        public final String pay() {
            return "paid";
        }
    }

    @RestController
    static class PrivateController {

        @PostMapping("/payments")
        @Idempotent
        private String pay() {
            return "paid";
        }

        @PostMapping("/refunds")
        @Idempotent
        public String refund() {
            return pay();
        }
    }

    static class PlainService {

        @Idempotent
        public String pay() {
            return "paid";
        }
    }

    @RestController
    static class ExactlyOnceController {

        @PostMapping("/payments")
        @Idempotent(guarantee = Guarantee.EXACTLY_ONCE)
        public String pay() {
            return "paid";
        }
    }
}
